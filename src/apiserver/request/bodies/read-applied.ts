/** Reads the body of a server-side apply, and decodes the result of applying it. */
import { writeJson } from '../../../lib/exact-json.ts'
import { DecodeError } from '../../../machinery/decode/index.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { badRequest, invalid } from '../../../machinery/status-error.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import { type ParsedYaml, parseYaml, strictWarnings, YamlError } from '../../../machinery/yaml.ts'
import type { Request } from '../../http/exchange.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { maxBodyBytes } from '../../request-options/body.ts'
import type { WriteOptions } from '../../request-options/write-options.ts'
import { decodeAs } from './decode-as.ts'
import { objectOf } from './decode-object.ts'

/** The content type of server-side apply. */
export const applyType = 'application/apply-patch+yaml'

/** The body of an apply. */
export interface AppliedBody {
  /** Preconditions of the write. */
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
  /**
   * The parsed body, for one attempt. Each further attempt parses it again, so that the value is not held in memory
   * while the write is committed.
   */
  value(): unknown
  /**
   * Throws 400 for duplicate keys, if `fieldValidation=Strict`. Call it after the body has been applied: errors of
   * applying take precedence.
   */
  checkStrictly(): void
}

/** Reads the body of an apply: YAML, which includes JSON. Throws 400. */
export async function readApplied(request: Request, { fieldValidation }: WriteOptions): Promise<AppliedBody> {
  const bytes = await request.body(maxBodyBytes)
  let parsed: ParsedYaml | undefined = parseApplied(bytes)
  request.audit?.recordBody(parsed.value)
  const { strict } = parsed
  if (fieldValidation !== 'Ignore' && fieldValidation !== 'Strict') request.warnings.push(...strictWarnings(strict))
  const { uid, resourceVersion } = (parsed.value as Partial<KubeObject> | null)?.metadata ?? {}
  return {
    uid,
    resourceVersion,
    value() {
      const { value } = parsed ?? parseApplied(bytes)
      parsed = undefined
      return value
    },
    checkStrictly() {
      if (fieldValidation === 'Strict' && strict.length > 0)
        throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${strict.join(', ')}`)
    },
  }
}

function parseApplied(bytes: Buffer): ParsedYaml {
  try {
    return parseYaml(bytes.toString())
  } catch (error) {
    if (error instanceof YamlError) throw badRequest(`error decoding YAML: ${error.message}`)
    throw error
  }
}

/** Turns the result of applying into an object of the kind. Throws 422. */
export function decodeApplied(resource: ServedResource, applied: KubeObject): KubeObject {
  try {
    // The managedFields were created by applying: do not decode them.
    const { managedFields, ...metadata } = applied.metadata
    const object = objectOf(resource, decodeAs(resource, { ...applied, metadata }).object)
    if (managedFields) object.metadata.managedFields = managedFields
    resource.applyDefaults(object)
    return object
  } catch (error) {
    if (error instanceof DecodeError)
      throw invalid(resource.groupKind, applied.metadata?.name ?? '', [
        invalidValue('patch', writeJson(applied), error.message),
      ])
    throw error
  }
}
