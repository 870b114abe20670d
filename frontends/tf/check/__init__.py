"""`jaxtribute check`: reads scripts without running them, and says what they will find here."""

from frontends.tf.check.command import check as check
