"""What TensorFlow 1 has at its top, and TensorFlow 2 in its modules or by another name."""

_PATHS = {
    "random": (
        *(
            ("random_normal", "normal"),
            ("random_uniform", "uniform"),
            ("random_shuffle", "shuffle"),
            ("random_gamma", "gamma"),
        ),
        *(("truncated_normal", "truncated_normal"), ("set_random_seed", "set_seed")),
    ),
    "math": (
        *(
            "betainc",
            "is_non_decreasing",
            "is_strictly_increasing",
            "logical_xor",
            "polygamma",
            "zeta",
        ),
        ("floor_div", "floordiv"),
        *("confusion_matrix", "count_nonzero", "erf", "expm1", "floordiv", "floormod", "is_finite"),
        *("is_inf", "is_nan", "log1p", "log_sigmoid", "mod", "reciprocal", "rsqrt", "segment_mean"),
        *("angle", "bincount", "conj", "digamma", "erfc", "igamma", "igammac", "imag", "lbeta"),
        *("invert_permutation", "lgamma", "real", "rint", "segment_max", "segment_min"),
        *("segment_prod", "unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod"),
        *("unsorted_segment_sqrt_n", "cumprod", "reduce_euclidean_norm"),
        *("segment_sum", "squared_difference", "unsorted_segment_mean", "unsorted_segment_sum"),
    ),
    "linalg": (
        *(("matrix_inverse", "inv"), ("matrix_determinant", "det"), ("matrix_solve", "solve")),
        *(("matrix_band_part", "band_part"), ("matrix_diag", "diag"), "trace", "global_norm"),
        *(("matrix_diag_part", "diag_part"), ("matrix_set_diag", "set_diag"), "matrix_transpose"),
        *("cholesky", "cholesky_solve", "cross", "qr", "svd", ("self_adjoint_eig", "eigh")),
        *(("self_adjoint_eigvals", "eigvalsh"), ("matrix_triangular_solve", "triangular_solve")),
        *(("diag", "tensor_diag"), ("diag_part", "tensor_diag_part"), "logdet"),
        ("matrix_solve_ls", "lstsq"),
    ),
    "quantization": (
        *("fake_quant_with_min_max_args", "fake_quant_with_min_max_args_gradient"),
        *("fake_quant_with_min_max_vars", "fake_quant_with_min_max_vars_gradient"),
        "fake_quant_with_min_max_vars_per_channel",
        "fake_quant_with_min_max_vars_per_channel_gradient",
    ),
    "signal": (*("fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d"),),
    "nn": ("depth_to_space", "space_to_depth"),
    "image": ("random_crop",),
    "compat.v1.image": ("extract_image_patches",),
    "debugging": (
        *("assert_non_negative", "assert_positive", "assert_type", "check_numerics"),
        *("assert_greater_equal", "assert_integer", "assert_less_equal", "assert_near"),
        *("assert_negative", "assert_non_positive", "assert_none_equal", "assert_proper_iterable"),
        *("assert_same_float_dtype", "assert_scalar", "is_numeric_tensor"),
    ),
    "io": (
        *("FixedLenFeature", "FixedLenSequenceFeature", "SparseFeature", "VarLenFeature"),
        *("decode_base64", "decode_compressed", "decode_csv", "decode_raw", "encode_base64"),
        *("matching_files", "parse_example", "parse_single_example"),
        *("parse_single_sequence_example", "parse_tensor", "read_file", "serialize_tensor"),
        "write_file",
    ),
    "strings": (
        *("as_string", "regex_replace"),
        *(("string_join", "join"), ("string_lower", "lower"), ("string_upper", "upper")),
        *(("string_strip", "strip"), ("string_length", "length")),
        ("string_to_hash_bucket_fast", "to_hash_bucket_fast"),
        ("string_to_hash_bucket_strong", "to_hash_bucket_strong"),
    ),
    "compat.v1.strings": (
        ("string_to_number", "to_number"),
        ("string_to_hash_bucket", "to_hash_bucket"),
    ),
    "sparse": (
        *(("sparse_reorder", "reorder"), ("sparse_tensor_to_dense", "to_dense")),
        *(("sparse_fill_empty_rows", "fill_empty_rows"), ("sparse_mask", "mask")),
        *(("sparse_maximum", "maximum"), ("sparse_minimum", "minimum")),
        *(("sparse_reshape", "reshape"), ("sparse_retain", "retain"), ("sparse_slice", "slice")),
        *(("sparse_softmax", "softmax"), ("sparse_tensor_dense_matmul", "sparse_dense_matmul")),
        *(("sparse_to_indicator", "to_indicator"), ("sparse_transpose", "transpose")),
    ),
}

# A pair is a name and the one that it has now.
_AT_THE_TOP = {
    "batch_to_space_nd": "batch_to_space",
    "lin_space": "linspace",
    "py_func": "numpy_function",
    "reverse_v2": "reverse",
    "tensor_scatter_add": "tensor_scatter_nd_add",
    "tensor_scatter_sub": "tensor_scatter_nd_sub",
    "tensor_scatter_update": "tensor_scatter_nd_update",
}
# By TensorFlow 1's name: where it is now.
MOVED: dict[str, str] = {old: f"frontends.tf:{new}" for old, new in _AT_THE_TOP.items()} | {
    (one if isinstance(one, str) else one[0]): (
        f"frontends.tf:{module}.{one if isinstance(one, str) else one[1]}"
    )
    for module, some in _PATHS.items()
    for one in some
}
