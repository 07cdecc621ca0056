/** Kubernetes' library of named formats: `format.dns1123Label().validate(name)` returns an optional list of errors. */

import { formatCheck } from '../../../machinery/structural-schema/formats/index.ts'
import { dns1035Label, dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '../../../machinery/validation/names.ts'
import { checkRequestUri, UrlError } from '../../../machinery/values/go-url.ts'
import type { Library } from '../../library.ts'
import { declare, member, overload, scaled } from '../../standard/declare.ts'
import { listType, opaqueType, optionalType, stringType } from '../../types.ts'
import { ArrayList, OpaqueValue, OptionalValue } from '../../values.ts'
import { expectInstance, textOf } from '../arguments.ts'
import { type Costs, matchCost, scanEstimate, sizeEstimate, sizeOf } from '../costs.ts'

export const formatType = opaqueType('kubernetes.NamedFormat')

/** Returns the errors of a text. Empty if it is valid. */
type Rule = (text: string) => readonly string[]

class FormatValue extends OpaqueValue {
  readonly type = formatType
  readonly name: string
  readonly rule: Rule
  /** The length of upstream's pattern, or the length that it assumes for costs. */
  readonly patternLength: number
  constructor(name: string, rule: Rule, patternLength: number) {
    super()
    this.name = name
    this.rule = rule
    this.patternLength = patternLength
  }
  equals(other: OpaqueValue): boolean {
    return other instanceof FormatValue && this.name === other.name
  }
}

/** A format of schemas with its error message. */
const schemaFormat =
  (name: string, message: string): Rule =>
  (text) =>
    formatCheck(name)?.(text) === false ? [message] : []

function uri(text: string): readonly string[] {
  try {
    checkRequestUri(text)
    return []
  } catch (error) {
    if (error instanceof UrlError) return [error.message]
    throw error
  }
}

const formats: ReadonlyMap<string, FormatValue> = new Map([
  ['dns1123Label', new FormatValue('DNS1123Label', (text) => dnsLabel(text), 30)],
  ['dns1123Subdomain', new FormatValue('DNS1123Subdomain', (text) => dnsSubdomain(text), 60)],
  ['dns1035Label', new FormatValue('DNS1035Label', (text) => dns1035Label(text), 30)],
  ['qualifiedName', new FormatValue('QualifiedName', qualifiedName, 60)],
  ['dns1123LabelPrefix', new FormatValue('DNS1123LabelPrefix', (text) => dnsLabel(text, true), 30)],
  ['dns1123SubdomainPrefix', new FormatValue('DNS1123SubdomainPrefix', (text) => dnsSubdomain(text, true), 60)],
  ['dns1035LabelPrefix', new FormatValue('DNS1035LabelPrefix', (text) => dns1035Label(text, true), 30)],
  ['labelValue', new FormatValue('LabelValue', labelValue, 40)],
  ['uri', new FormatValue('URI', uri, 1120)],
  ['uuid', new FormatValue('uuid', schemaFormat('uuid', 'does not match the UUID format'), 70)],
  ['byte', new FormatValue('byte', schemaFormat('byte', 'invalid base64'), 84)],
  ['date', new FormatValue('date', schemaFormat('date', 'invalid date'), 71)],
  ['datetime', new FormatValue('datetime', schemaFormat('datetime', 'invalid datetime'), 71)],
])

/** Estimates assume a pattern of this length, because the format is unknown. A character costs a quarter. */
const maxPatternLength = 128

const validateCosts: Costs = {
  cost: ([format, text]) => matchCost(sizeOf(text), expectInstance(FormatValue, format).patternLength),
  estimate: ([, text]) => ({ cost: scaled(scanEstimate(sizeEstimate(text)), maxPatternLength / 4) }),
}

function validate(format: FormatValue, text: string): OptionalValue {
  const faults = format.rule(text)
  return faults.length === 0 ? OptionalValue.none : new OptionalValue(new ArrayList(faults))
}

function named(name: string): OptionalValue {
  const format = formats.get(name)
  return format ? new OptionalValue(format) : OptionalValue.none
}

export const namedFormatsLibrary: Library = {
  name: 'kubernetes.format',
  types: [formatType],
  functions: [
    declare(
      'format.named',
      overload('format-named', [stringType], optionalType(formatType), (name) => named(textOf(name))),
    ),
    ...[...formats].map(([name, format]) =>
      declare(
        `format.${name}`,
        overload(`format.${name}`, [], formatType, () => format),
      ),
    ),
    declare(
      'validate',
      member(
        'format-validate',
        [formatType, stringType],
        optionalType(listType(stringType)),
        (format, text) => validate(expectInstance(FormatValue, format), textOf(text)),
        validateCosts,
      ),
    ),
  ],
}
