/** Extended attributes that are the machine's and no part of a layer: those of overlayfs and security modules. */
const foreign = /^(?:trusted\.|system\.(?!posix_acl_)|user\.(?:overlay|fuseoverlayfs)\.|security\.(?!capability$))/

/** A layer must not point anywhere with them. */
export const isForeignAttribute = (name: string): boolean => foreign.test(name)
