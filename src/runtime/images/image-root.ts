/** The folder of images that `t8s image`, `t8s runtime` and `t8s up` share by default. */
export const defaultImageRoot = '/var/lib/typernetes/images'
