/** Static pods: pods that the node runs from manifests, decoded and validated as the API server does it. */
import { createHash } from 'node:crypto'
import { pods as definition } from '../../../api/core/pod/index.ts'
import { apiReference } from '../../../api/core/pod/references/api-references.ts'
import { compileDefaults } from '../../../api/defaults.ts'
import { schemaType } from '../../../api/schema/index.ts'
import type { Pod } from '../../../client/kinds.ts'
import { writeJson } from '../../../lib/exact-json.ts'
import { decode } from '../../../machinery/decode/index.ts'
import type { FieldError } from '../../../machinery/validation/field-error.ts'
import { validateMetadata } from '../../../machinery/validation/metadata.ts'
import { dnsSubdomain } from '../../../machinery/validation/names.ts'
import { type ParsedYaml, parseYaml } from '../../../machinery/yaml.ts'
import { sourceAnnotation, staticAnnotations } from './annotations.ts'

/** The origin of a manifest. */
export interface ManifestSource {
  readonly kind: 'file' | 'http'
  /** The path of the file, or the URL. */
  readonly place: string
  readonly nodeName: string
}

type Members = Readonly<Record<string, unknown>>

/** The text is neither a pod nor, from a URL, a list of pods; or the pod is not valid. */
export class ManifestError extends Error {}

const setDefaults = compileDefaults(definition.defaults ?? [])

/** Reads the one pod of a file. Throws ManifestError. */
export function readManifest(text: string, source: ManifestSource, seen: string): Pod {
  return staticPod(yamlOf(text), source, seen)
}

/** Reads the pods of an answer to a request: one, or a PodList. Throws ManifestError; one bad pod rejects all. */
export function readManifests(text: string, source: ManifestSource, seen: string): Pod[] {
  const value = yamlOf(text)
  if (!isObject(value) || value.kind !== 'PodList') return [staticPod(value, source, seen)]
  const { apiVersion, items } = value
  if (!Array.isArray(items)) throw new ManifestError('invalid pods list: items must be a list')
  return items.map((item: unknown) =>
    staticPod(isObject(item) ? { apiVersion, kind: 'Pod', ...item } : item, source, seen),
  )
}

function yamlOf(text: string): unknown {
  try {
    const { value, strict }: ParsedYaml = parseYaml(text)
    if (strict.length > 0) throw new Error(strict.join(', '))
    return value
  } catch (error) {
    throw new ManifestError(`couldn't parse as pod(${(error as Error).message}), please check config file`)
  }
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function staticPod(value: unknown, source: ManifestSource, seen: string): Pod {
  const pod = decoded(value)
  if (!pod.metadata.name) throw new ManifestError('invalid pod: name is needed for the pod')
  identify(pod, source, seen)
  const faults = faultsOf(pod)
  if (faults.length > 0)
    throw new ManifestError(`invalid pod: [${faults.map(({ field, message }) => `${field}: ${message}`).join(' ')}]`)
  const reference = apiReference(pod)
  // The node authorizer's text for this reference is another one.
  if (reference)
    throw new ManifestError(
      `static pods may not reference ${reference === 'a service account' ? 'serviceaccounts' : reference}`,
    )
  return pod
}

function decoded(value: unknown): Pod {
  if (!isObject(value) || value.kind !== 'Pod' || value.apiVersion !== 'v1')
    throw new ManifestError(`couldn't parse as pod(${describe(value)}), please check config file`)
  try {
    const { object } = decode(schemaType(definition), structuredClone(value))
    const pod = object as unknown as Pod
    pod.metadata ??= {}
    setDefaults(pod)
    return pod
  } catch (error) {
    throw new ManifestError(`couldn't parse as pod(${(error as Error).message}), please check config file`)
  }
}

function describe(value: unknown): string {
  if (!isObject(value)) return 'it must be an object'
  if (!value.kind) return "Object 'Kind' is missing"
  if (!value.apiVersion) return "Object 'apiVersion' is missing"
  return `kind ${JSON.stringify(value.kind)} of version ${JSON.stringify(value.apiVersion)}: only a v1 Pod is expected`
}

/** Sets name, UID, node, annotations and the first status, as upstream's kubelet does. */
function identify(pod: Pod, { kind, place, nodeName }: ManifestSource, seen: string): void {
  const { metadata } = pod
  metadata.uid ||= uidOf(pod, kind === 'file' ? `host:${nodeName}file:${place}` : `url:${place}`)
  metadata.name = `${metadata.name}-${nodeName.toLowerCase()}`
  metadata.namespace ||= 'default'
  metadata.annotations = {
    ...metadata.annotations,
    [staticAnnotations.hash]: metadata.uid,
    [staticAnnotations.seen]: seen,
    [sourceAnnotation]: kind,
  }
  pod.spec!.nodeName = nodeName
  if (kind === 'file') tolerateNoExecute(pod)
  definition.prepare?.create?.(pod, undefined as never)
}

/** The MD5 hash of the origin and the content: a changed manifest is another pod. */
const uidOf = (pod: Pod, origin: string): string =>
  createHash('md5')
    .update(origin)
    .update(writeJson(sortedDeep(pod)))
    .digest('hex')

function sortedDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedDeep)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sortedDeep(member)]),
  )
}

/** Static pods of files are not evicted for taints of their node. */
function tolerateNoExecute(pod: Pod): void {
  const spec = pod.spec!
  const isSame = ({ key, operator, effect }: NonNullable<typeof spec.tolerations>[number]): boolean =>
    !key && operator === 'Exists' && effect === 'NoExecute'
  if (!spec.tolerations?.some(isSame))
    spec.tolerations = [...(spec.tolerations ?? []), { operator: 'Exists', effect: 'NoExecute' }]
}

function faultsOf(pod: Pod): readonly FieldError[] {
  const { validate } = definition
  return [
    ...validateMetadata(pod.metadata, { namespaced: true, nameRule: dnsSubdomain }),
    ...(validate?.spec?.(pod) ?? []),
    ...(validate?.object?.(pod) ?? []),
    ...(validate?.create?.(pod) ?? []),
  ]
}
