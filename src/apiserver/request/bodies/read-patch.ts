/** Reads the body of a PATCH (all types except apply) and returns a function that patches an object. */

import { floatTexts, parseExactJson, writeJson } from '../../../lib/exact-json.ts'
import { pauses } from '../../../lib/flow/steps.ts'
import { own } from '../../../lib/own.ts'
import {
  checkValues,
  DecodeError,
  duplicateFieldMessages,
  hasFloats,
  isDeeperThan,
  jsonPatchMessages,
  maxDepth,
} from '../../../machinery/decode/index.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { jsonPatch } from '../../../machinery/patch/json-patch.ts'
import { mergePatch } from '../../../machinery/patch/merge-patch.ts'
import { strategicMergePatch } from '../../../machinery/patch/strategic-merge.ts'
import { badRequest, invalid, StatusError } from '../../../machinery/status-error.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import type { Request } from '../../http/exchange.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { maxBodyBytes, mediaType, unsupported } from '../../request-options/body.ts'
import { namesVersion } from '../../request-options/parameters.ts'
import type { WriteOptions } from '../../request-options/write-options.ts'
import { decodeAs } from './decode-as.ts'
import { objectOf } from './decode-object.ts'

type Patch = (object: Record<string, unknown>) => unknown

const types = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
} as const

type PatchType = (typeof types)[keyof typeof types]

/** Strategic merge needs patch strategies, which only Kubernetes' own schemas have. */
const customTypes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']

export interface ReadPatch {
  /**
   * Patches a live object and returns the result, decoded, validated and with defaults. Called again on each retry of a
   * write.
   */
  readonly patched: (live: KubeObject) => Promise<KubeObject>
  /** True if the patch contains a resourceVersion. */
  readonly conditional: boolean
}

/** Throws 400, 413, 415; `patched` may throw 422. `custom`: the target is a custom resource, or a part of one. */
export async function readPatch(
  request: Request,
  resource: ServedResource,
  options: WriteOptions,
  custom = resource.definition.custom !== undefined,
): Promise<ReadPatch> {
  const media = mediaType(request)
  const type = own(types, media)
  if (custom && (!type || type === 'strategic')) throw unsupported(customTypes)
  if (!type) throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
  const bytes = await request.body(maxBodyBytes)
  const text = bytes.toString()
  const pause = pauses()
  const body = parse(text)
  request.audit?.recordBody(body)
  const patch = patchOf(type, body, resource)
  const withFloats = floatsPatch(type, text, resource)
  await pause()
  const duplicates =
    options.fieldValidation === 'Ignore'
      ? []
      : type === 'json'
        ? jsonPatchMessages(text, body)
        : duplicateFieldMessages(text, body)
  let warned = false
  const patched = async (live: KubeObject): Promise<KubeObject> => {
    const pause = pauses()
    const patched = patch({ ...live })
    await pause()
    const shown = (): string => (type === 'strategic' ? goValue(body) : writeJson(patched))
    if (withFloats) decodePatched(resource, withFloats({ ...live }), type, shown)
    const object = decodePatched(resource, patched, type, shown)
    const strict = [...duplicates, ...object.strict]
    if (strict.length && options.fieldValidation === 'Strict')
      throw invalidPatch(shown(), `strict decoding error: ${strict.join(', ')}`)
    if (!warned && options.fieldValidation === 'Warn') request.warnings.push(...strict)
    warned = true
    await pause()
    resource.applyDefaults(object.object)
    return object.object
  }
  return { patched, conditional: isConditional(body) }
}

function isConditional(body: unknown): boolean {
  if (Array.isArray(body))
    return body.some((operation) => (operation as { path?: unknown } | null)?.path === '/metadata/resourceVersion')
  const version = (body as { metadata?: { resourceVersion?: unknown } | null }).metadata?.resourceVersion
  return typeof version === 'string' && namesVersion(version)
}

function parse(text: string): unknown {
  checkValues(text)
  let body: unknown
  try {
    body = parseExactJson(text)
  } catch (error) {
    throw badRequest(`error decoding patch: ${(error as Error).message}`)
  }
  if (isDeeperThan(body, maxDepth)) throw badRequest('error decoding patch: json: exceeded max depth')
  return body
}

function patchOf(type: PatchType, body: unknown, resource: ServedResource): Patch {
  if (type === 'json') {
    if (!Array.isArray(body))
      throw badRequest('error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch')
    return (object) => jsonPatch(object, body)
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${Array.isArray(body) ? 'array' : typeof body} into Go value ` +
        'of type map[string]interface {}',
    )
  }
  if (type === 'merge') return (object) => mergePatch(object, body)
  return (object) => strategicMergePatch(object, body as Record<string, unknown>, resource.type)
}

/** True if operations copy values, which does not work with numbers as text. */
const copies = (operations: unknown): boolean =>
  Array.isArray(operations) && operations.some((operation) => operation?.op === 'copy')

/**
 * A patch from a text that contains 1.0 or 1e3, in which these differ from integers: its result is only used to let the
 * decoder reject them. Strategic merge treats them as integers, as Go's converter does.
 */
function floatsPatch(type: PatchType, text: string, resource: ServedResource): Patch | undefined {
  const floats = hasFloats(text) ? floatTexts(text) : undefined
  if (!floats) return undefined
  if (type === 'merge' || (type === 'json' && !copies(floats.value))) return patchOf(type, floats.value, resource)
  if (floats.beyond) throw badRequest(`json: cannot unmarshal number ${floats.beyond} into Go value of type float64`)
  return undefined
}

function decodePatched(
  resource: ServedResource,
  patched: unknown,
  type: PatchType,
  shown: () => string,
): { object: KubeObject; strict: readonly string[] } {
  const { definition, groupVersion } = resource
  try {
    const { object, strict } = decodeAs(resource, patched)
    if (definition.custom) checkPatchedKind(resource, object)
    // A strategic merge patch ignores the kind: clients send the kind of the parent object to `scale`.
    else if (type !== 'strategic' && (object.kind !== definition.kind || object.apiVersion !== groupVersion)) {
      throw new DecodeError(
        `no kind ${JSON.stringify(object.kind ?? '')} is registered for version ` +
          `${JSON.stringify(object.apiVersion ?? '')} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
      )
    }
    return { object: objectOf(resource, object), strict }
  } catch (error) {
    if (error instanceof DecodeError)
      throw invalidPatch(shown(), type === 'strategic' ? error.conversion : error.message)
    throw error
  }
}

/** Validates kind and version of custom resources as ordinary fields. */
function checkPatchedKind(
  { definition, groupVersion, groupKind }: ServedResource,
  { kind, apiVersion, metadata }: Record<string, unknown>,
): void {
  const wrong = [
    ...(kind === definition.kind ? [] : [invalidValue('kind', kind ?? '', `must be ${definition.kind}`)]),
    ...(apiVersion === groupVersion ? [] : [invalidValue('apiVersion', apiVersion ?? '', `must be ${groupVersion}`)]),
  ]
  if (wrong.length) throw invalid(groupKind, (metadata as KubeObject['metadata'] | undefined)?.name ?? '', wrong)
}

/** 422 without a kind: the result of the patch is not an object of the kind. */
const invalidPatch = (shown: string, why: string): StatusError =>
  invalid({ group: '', name: '' }, '', [invalidValue('patch', shown, why)])

/** A value as Go's `%+v` prints it: upstream shows strategic merge patches in this form. */
function goValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`
  if (typeof value === 'object' && value !== null)
    return `map[${Object.keys(value)
      .sort()
      .map((key) => `${key}:${goValue((value as Record<string, unknown>)[key])}`)
      .join(' ')}]`
  return value === null ? '<nil>' : String(value)
}
