"""contrib's embeddings of sequences of ids."""

from __future__ import annotations

from typing import Any

from minitf.contrib.framework.variables import model_variable
from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.embedding import embedding_lookup
from minitf.ops.sorting import unique as unique_of
from minitf.variable_scope import variable_scope


def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Tensor:
    """Rows of a variable `embeddings` for ids [batch, length]. Raises ValueError for no sizes."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got "
            f"vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        known = vocab_size is not None and embed_dim is not None
        embeddings = model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim] if known else None,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        lookup = embedding_lookup_unique if unique else embedding_lookup
        return lookup(embeddings, ids)


def embedding_lookup_unique(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> Tensor:
    """embedding_lookup that takes each row once, however often its id comes."""
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = to_tensor(ids)
        shape = array.shape(ids)
        flat = array.reshape(ids, math.reduce_prod(shape, keepdims=True))
        different, where = unique_of(flat)
        rows = embedding_lookup(params, different, partition_strategy)
        found = array.gather(rows, where)
        out = array.reshape(found, array.concat([shape, array.shape(rows)[1:]], 0))
        out.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return out
