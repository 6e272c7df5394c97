"""tf.contrib.factorization: k-means clustering by a graph (TF: clustering_ops.KMeans)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import colocate_with, control_dependencies
from minitf.nn import embedding_lookup, l2_normalize
from minitf.ops import array, math, state
from minitf.ops.apply import apply_op
from minitf.ops.check import assert_equal, assert_positive
from minitf.ops.control_flow import cond
from minitf.ops.group import group, no_op
from minitf.ops.random import random_uniform
from minitf.ops.segment import unsorted_segment_sum
from minitf.ops.sorting import unique
from minitf.variables import Variable
from minitf_runtime.errors import UnimplementedError
from minitf_runtime.types import bool_, float32, int32, int64

__all__ = [
    "COSINE_DISTANCE", "KMEANS_PLUS_PLUS_INIT", "KMC2_INIT", "KMeans", "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
]  # fmt: skip

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"


class KMeans:
    """Clusters the rows of `inputs`, a tensor or a list of them (TF: factorization.KMeans).

    The first centers are random rows, or given: a tensor, or what a function of (inputs, number)
    gives. Raises ValueError for other settings than TensorFlow's, UnimplementedError for
    k-means++ and KMC2.
    """

    def __init__(
        self,
        inputs: Any,
        num_clusters: Any,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:
        if isinstance(initial_clusters, str) and initial_clusters != RANDOM_INIT:
            if initial_clusters in (KMEANS_PLUS_PLUS_INIT, KMC2_INIT):
                raise UnimplementedError(None, None, f"KMeans by {initial_clusters!r}")
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters = num_clusters
        self._initial_clusters = initial_clusters
        self._is_cosine = distance_metric == COSINE_DISTANCE
        self._use_mini_batch = use_mini_batch
        self._steps = int(mini_batch_steps_per_iteration)
        self._seed = random_seed

    def training_graph(self) -> tuple[Any, ...]:
        """all distances, index of the nearest center, distance to it, whether there are centers,
        op to make them, op to train. The first three are tuples, one for each input."""
        initial, number = self._initial_clusters, self._num_clusters
        if isinstance(initial, str) or callable(initial):
            number = to_tensor(number)
        else:
            initial = to_tensor(initial)
            number = array.shape(initial)[0]
        self._make_variables(number)
        init_op = self._init_op(initial, number)
        inputs, centers = self._inputs, self._centers
        if self._is_cosine:
            inputs = [_beside(x, lambda x=x: l2_normalize(x, axis=1)) for x in inputs]
            if not self._centers_are_normal():
                centers = l2_normalize(centers, axis=1)
        scores, distances, indices = self._distances(inputs, centers)
        if self._use_mini_batch:
            with control_dependencies([self._synchronize()]):
                train_op = self._mini_batch_op(inputs, indices)
        else:
            train_op = self._full_batch_op(inputs, number, indices)
        return scores, indices, distances, self._initialized, init_op, train_op

    def _centers_are_normal(self) -> bool:
        """Whether the variable itself holds vectors of length 1."""
        return self._is_cosine and (not self._use_mini_batch or self._steps > 1)

    def _make_variables(self, number: Any) -> None:
        nothing = constant([], float32)
        self._centers = Variable(nothing, name="clusters", validate_shape=False)
        self._initialized = Variable(False, dtype=bool_, name="initialized")
        self._updated, self._left, self._counts = self._centers, None, None
        if self._use_mini_batch and self._steps > 1:
            self._updated = Variable(nothing, name="clusters_updated", validate_shape=False)
            self._left = Variable(self._steps, dtype=int64, name="update_in_steps")
            self._counts = Variable(array.zeros([number], int64))
        elif self._use_mini_batch:
            self._counts = Variable(array.ones([number], int64))

    def _distances(self, inputs: list[Any], centers: Any) -> tuple[Any, Any, Any]:
        """Of each input: the distances to all centers, to the nearest one, and which that is."""
        scores = [_beside(x, lambda x=x: self._scores(x, centers)) for x in inputs]
        if self._is_cosine and not self._centers_are_normal():
            centers = _beside(centers, lambda: l2_normalize(centers, axis=1))
        found = [_beside(x, lambda x=x: self._nearest(x, centers)) for x in inputs]
        return tuple(scores), tuple(d for d, _ in found), tuple(i for _, i in found)

    def _scores(self, x: Any, centers: Any) -> Any:
        if self._is_cosine:
            return 1 - math.matmul(x, centers, transpose_b=True)
        own = math.reduce_sum(math.square(x), 1, keepdims=True)
        rest = own - 2 * math.matmul(x, centers, transpose_b=True)
        lengths = math.reduce_sum(math.square(centers), 1, keepdims=True)
        return rest + array.transpose(lengths)

    def _nearest(self, x: Any, centers: Any) -> tuple[Any, Any]:
        indices, distances = apply_op("NearestNeighbors", x, centers, 1)
        if self._is_cosine:
            distances *= 0.5
        return array.squeeze(distances, [-1]), array.squeeze(indices, [-1])

    # ---- training

    def _synchronize(self) -> Any:
        """Every so many mini-batches the centers become those that were updated meanwhile."""
        left = self._left
        if left is None:
            return no_op()

        def publish() -> Any:
            with control_dependencies([state.assign(left, self._steps - 1)]):
                updated = self._updated
                if self._is_cosine:
                    updated = _beside(updated, lambda: l2_normalize(self._updated, axis=1))
                with control_dependencies([state.assign(self._centers, updated)]):
                    zeros = array.zeros_like(self._counts)
                    with control_dependencies([state.assign(self._counts, zeros)]):
                        return array.identity(left)

        with colocate_with(left, ignore_existing=True):
            return cond(left <= 0, publish, lambda: state.assign_sub(left, 1))

    def _mini_batch_op(self, inputs: list[Any], indices: Any) -> Any:
        """Moves each center towards its points, by 1 / (all points that it had)."""
        updates = []
        for x, index in zip(inputs, indices):
            with colocate_with(x, ignore_existing=True):
                ids, places = unique(array.reshape(index, [-1]))
                number = array.size(ids)
                with colocate_with(self._counts, ignore_existing=True):
                    had = array.gather(self._counts, ids)
                with colocate_with(self._updated, ignore_existing=True):
                    old = array.gather(self._updated, ids)
                ones = array.ones_like(places, dtype=int64)
                counts = unsorted_segment_sum(ones, places, number)
                moves = unsorted_segment_sum(x, places, number)
                rows = array.reshape(number, [1])
                ones = array.ones(array.reshape(array.rank(x) - 1, [1]), int32)
                column = array.concat([rows, ones], 0)
                moves -= math.cast(array.reshape(counts, column), x.dtype) * old
                rate = math.reciprocal(math.cast(had + counts, x.dtype))
                moves *= array.reshape(rate, column)
            updates.append(state.scatter_add(self._counts, ids, counts))
            updates.append(state.scatter_add(self._updated, ids, moves))
        return group(*updates)

    def _full_batch_op(self, inputs: list[Any], number: Any, indices: Any) -> Any:
        """Each center becomes the mean of its points."""
        sums, counts = [], []
        epsilon = constant(1e-6, inputs[0].dtype)
        for x, index in zip(inputs, indices):
            with colocate_with(x, ignore_existing=True):
                sums.append(unsorted_segment_sum(x, index, number))
                ones = array.ones(array.reshape(array.shape(x)[0], [-1]))
                column = array.reshape(ones, [-1, 1])
                counts.append(unsorted_segment_sum(column, index, number))
        with colocate_with(self._centers, ignore_existing=True):
            count = math.cast(math.add_n(counts), sums[0].dtype)
            centers = math.add_n(sums) / (count + epsilon)
            if self._centers_are_normal():
                centers = l2_normalize(centers, axis=1)
        return state.assign(self._centers, centers)

    # ---- the first centers

    def _init_op(self, initial: Any, number: Any) -> Any:
        """Chooses the first centers; checks that there are some if they were chosen."""
        chosen = array.shape(self._centers)[0]
        missing = number - chosen
        count = math.add_n([array.shape(x)[0] for x in self._inputs])

        def initialize() -> Any:
            with control_dependencies([assert_positive(missing)]):
                left = self._add_centers(initial, number, chosen, missing, count)
                done = math.equal(left, 0)
                return cond(done, lambda: state.assign(self._initialized, True), no_op)

        def check() -> Any:
            return assert_equal(self._initialized, True)

        return cond(math.equal(missing, 0), check, initialize)

    def _add_centers(self, initial: Any, number: Any, chosen: Any, missing: Any, count: Any) -> Any:
        new = self._first(initial, missing, count)
        if self._is_cosine:
            new = l2_normalize(new, axis=1)
        every = cond(
            math.equal(chosen, 0),
            lambda: new,
            lambda: array.concat([self._centers, new], 0),
        )
        made = state.assign(self._centers, every, validate_shape=False)
        if self._updated is not self._centers:
            made = state.assign(self._updated, made, validate_shape=False)
        return number - array.shape(made)[0]

    def _first(self, initial: Any, missing: Any, count: Any) -> Any:
        if callable(initial):
            return initial(self._inputs, missing)
        if not isinstance(initial, str):
            with control_dependencies([assert_equal(missing, array.shape(initial)[0])]):
                return initial

        def some() -> Any:
            rows = random_uniform(
                array.reshape(missing, [-1]),
                minval=0,
                maxval=math.cast(count, int64),
                seed=self._seed,
                dtype=int64,
            )
            return embedding_lookup(self._inputs, rows, partition_strategy="div")

        return cond(count <= missing, lambda: array.concat(self._inputs, 0), some)


def _beside(x: Any, make: Callable[[], Any]) -> Any:
    """What the function makes, on the device of a tensor."""
    with colocate_with(x, ignore_existing=True):
        return make()
