"""What the MNIST tutorials share: reading the images, and a small network for them."""

from minitf.examples.tutorials.mnist import input_data, mnist

__all__ = ["input_data", "mnist"]
