"""The one place where the version of both packages stands."""

VERSION = "0.1.0"
