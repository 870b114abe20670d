"""Stand-ins for @rules_python and @rules_cc that need no network: the rules inside Bazel 4 to 6."""

def _native_rules_impl(repository_ctx):
    repository_ctx.file("WORKSPACE", "")
    repository_ctx.file(repository_ctx.attr.package + "/BUILD", "")
    repository_ctx.file(
        repository_ctx.attr.package + "/defs.bzl",
        "".join(["{0} = native.{0}\n".format(rule) for rule in repository_ctx.attr.rules]),
    )

native_rules = repository_rule(
    implementation = _native_rules_impl,
    attrs = {
        "package": attr.string(mandatory = True),
        "rules": attr.string_list(mandatory = True),
    },
    doc = "Makes a repository whose //PACKAGE:defs.bzl hands over some of Bazel's own rules.",
)
