/** Validation of device attributes in ResourceSlices. */
import type { V1Device } from '@kubernetes/client-node'
import type { Wire } from '../../../machinery/object.ts'
import { type FieldError, invalidValue, tooLong } from '../../../machinery/validation/field-error.ts'
import { all, each, valid } from '../../../machinery/validation/field-rules.ts'
import { limitedMap } from './lists.ts'
import { attributeName } from './names.ts'

type Device = Wire<V1Device>
type Attribute = NonNullable<Device['attributes']>[string]

const maxNames = 32
const maxValues = 48
const longestValue = 64
const number = '(0|[1-9]\\d*)'
const preRelease = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)'
const build = '[0-9a-zA-Z-]+'
const semanticVersion = new RegExp(
  `^${number}\\.${number}\\.${number}(-${preRelease}(\\.${preRelease})*)?(\\+${build}(\\.${build})*)?$`,
)

/** Validates the attributes of a device, which share a limit with its capacities. */
export function attributeRules({ attributes = {}, capacity = {} }: Device, path: string): readonly FieldError[] {
  const names = Object.keys(attributes).length + Object.keys(capacity).length
  const values = Object.values(attributes).reduce(
    (sum, attribute) => sum + Math.max(1, listed(attribute).flat().length),
    0,
  )
  return all(
    names > maxNames
      ? [invalidValue(path, names, `the total number of attributes and capacities must not exceed ${maxNames}`)]
      : valid,
    values > maxValues
      ? [invalidValue(path, values, `the total number of attribute values must not exceed ${maxValues}`)]
      : valid,
    limitedMap(attributes, Number.POSITIVE_INFINITY, `${path}.attributes`, attributeName, valueRules),
  )
}

const listed = ({ bools, ints, strings, versions }: Attribute): (readonly unknown[])[] => [
  bools ?? [],
  ints ?? [],
  strings ?? [],
  versions ?? [],
]

const kinds = ['bool', 'int', 'string', 'version', 'bools', 'ints', 'strings', 'versions'] as const

function valueRules(attribute: Attribute, path: string): readonly FieldError[] {
  const given = kinds.filter((kind) => attribute[kind] !== undefined)
  return all(
    attribute.string === undefined ? valid : notTooLong(attribute.string, `${path}.string`),
    attribute.version === undefined ? valid : versionRules(attribute.version, `${path}.version`),
    given.flatMap((kind) =>
      Array.isArray(attribute[kind]) && attribute[kind].length === 0
        ? [invalidValue(`${path}.${kind}`, [], 'must not be empty if specified')]
        : [],
    ),
    each(attribute.strings, `${path}.strings`, notTooLong),
    each(attribute.versions, `${path}.versions`, versionRules),
    given.length === 0 ? [invalidValue(path, '', 'exactly one value must be specified')] : valid,
    given.length > 1 ? [invalidValue(path, attribute, 'exactly one value must be specified')] : valid,
  )
}

const notTooLong = (text: string, path: string): readonly FieldError[] =>
  Buffer.byteLength(text) > longestValue ? [tooLong(path, longestValue)] : valid

const versionRules = (text: string, path: string): readonly FieldError[] =>
  all(
    semanticVersion.test(text)
      ? valid
      : [invalidValue(path, text, 'must be a string compatible with semver.org spec 2.0.0')],
    notTooLong(text, path),
  )
