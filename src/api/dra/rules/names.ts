/** Validation of names of drivers, attributes, capacities and pools, and of share IDs. */
import { type FieldError, invalidValue, required, tooLong } from '../../../machinery/validation/field-error.ts'
import { all, follows, valid } from '../../../machinery/validation/field-rules.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'
import { csiDriver } from '../../core/pod/validation/volumes/volumes.ts'

const longestIdentifier = 32
const longestPool = 253

const identifierWords =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric " +
  "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is " +
  "'[A-Za-z_][A-Za-z0-9_]*')"

/** Validates the name of a driver; a missing one is reported as required only. */
export const driverName = csiDriver

/** Validates names of attributes and capacities: `name`, or `example.com/name`. */
export function attributeName(name: string, path: string): readonly FieldError[] {
  const parts = name.split('/')
  if (parts.length > 2) return [invalidValue(path, name, 'must not contain more than one slash')]
  const last = parts.at(-1) ?? ''
  if (parts.length === 1) return identifier(last, path)
  const domain = parts[0] ?? ''
  return all(
    domain ? driverName(domain, path) : [invalidValue(path, '', 'the domain must not be empty')],
    last ? identifier(last, path) : [invalidValue(path, '', 'the name must not be empty')],
  )
}

/** Like `attributeName`, but requires a domain. */
export const fullAttributeName = (name: string, path: string): readonly FieldError[] =>
  name.includes('/')
    ? attributeName(name, path)
    : [
        ...attributeName(name, path),
        invalidValue(path, name, 'a fully qualified name must be a domain and a name separated by a slash'),
      ]

const identifier = (text: string, path: string): readonly FieldError[] =>
  all(
    text.length > longestIdentifier ? [tooLong(path, longestIdentifier)] : valid,
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? valid : [invalidValue(path, text, identifierWords)],
  )

/** Validates the name of a pool: subdomains separated by slashes. */
export function poolName(name: string | undefined, path: string): readonly FieldError[] {
  if (!name) return [required(path)]
  return all(
    name.length > longestPool ? [tooLong(path, longestPool)] : valid,
    name.split('/').flatMap((part) => follows(part, path, dnsSubdomain)),
  )
}

const uid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** A UUID in any of its formats. */
const someUid = new RegExp(
  '^(urn:uuid:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' +
    String.raw`|^\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$|^[0-9a-f]{32}$`,
  'i',
)
const lengths: ReadonlySet<number> = new Set([32, 36, 38, 45])

/** Validates the UUID of a share of a device. */
export function shareId(id: string | undefined, path: string): readonly FieldError[] {
  if (id === undefined || uid.test(id)) return valid
  if (!lengths.has(id.length))
    return [invalidValue(path, id, `error validating uid: invalid UUID length: ${id.length}`)]
  if (!someUid.test(id)) return [invalidValue(path, id, 'error validating uid: invalid UUID format')]
  return [
    invalidValue(
      path,
      id,
      'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase ' +
        'hexadecimal characters',
    ),
  ]
}
