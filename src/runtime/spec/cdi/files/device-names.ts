/** Names of CDI devices: `VENDOR/CLASS=NAME`. */

const vendorOrClass = '[A-Za-z](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?'
const name = '[A-Za-z0-9](?:[A-Za-z0-9_.:-]*[A-Za-z0-9])?'

const kinds = new RegExp(`^${vendorOrClass}/${vendorOrClass}$`)
const names = new RegExp(`^${name}$`)
const qualifiedNames = new RegExp(`^${vendorOrClass}/${vendorOrClass}=${name}$`)

/** Returns true for `VENDOR/CLASS`. */
export const isKind = (value: string): boolean => kinds.test(value)

/** Returns true for the name of a device in its spec file. */
export const isDeviceName = (value: string): boolean => names.test(value)

export const isQualifiedName = (value: string): boolean => qualifiedNames.test(value)
