/** Validation of environment variables and of downward API references. */
import { own } from '../../../../../lib/own.ts'
import {
  type FieldError,
  invalidValue,
  notFoundValue,
  notSupported,
  required,
} from '../../../../../machinery/validation/field-error.ts'
import { all, each, follows, requiredRule, valid } from '../../../../../machinery/validation/field-rules.ts'
import {
  configMapKey,
  dnsLabel,
  dnsSubdomain,
  qualifiedName,
  relaxedEnvVarName,
} from '../../../../../machinery/validation/names.ts'
import { canonicalQuantity, signOf } from '../../../../../machinery/values/quantity.ts'
import type { Container, PodSpec } from '../../model.ts'
import { noBacksteps } from '../volumes/paths.ts'
import { everyContainer } from './every-container.ts'

type EnvVar = NonNullable<Container['env']>[number]
type FileKeyRef = NonNullable<NonNullable<EnvVar['valueFrom']>['fileKeyRef']>
type EnvFromSource = NonNullable<Container['envFrom']>[number]
interface FieldRef {
  apiVersion?: string
  fieldPath: string
}
interface ResourceFieldRef {
  containerName?: string
  resource: string
  divisor?: string
}

const environmentFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
const volumeFields = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid']
const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const podFields = new Set([
  ...environmentFields,
  ...volumeFields,
  'spec.host',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])
/** Maps whose entries have a field path: `metadata.labels['key']`. */
const mapFields = ['metadata.annotations', 'metadata.labels']

/** Validates a reference to a field of the pod, for an environment variable or a file. */
export function fieldRef(
  { apiVersion, fieldPath }: FieldRef,
  path: string,
  use: 'environment' | 'volume',
): readonly FieldError[] {
  if (!apiVersion) return [required(`${path}.apiVersion`)]
  if (!fieldPath) return [required(`${path}.fieldPath`)]
  const at = `${path}.fieldPath`
  const [, map, key = ''] = /^(.+?)\['(.*)'\]$/.exec(fieldPath) ?? []
  const conversionError = (why: string): readonly FieldError[] => [
    invalidValue(at, fieldPath, `error converting fieldPath: ${why}`),
  ]
  if (apiVersion !== 'v1') return conversionError(`unsupported pod version: ${apiVersion}`)
  if (map !== undefined) {
    if (!mapFields.includes(map)) return conversionError(`field label does not support subscript: ${fieldPath}`)
    return follows(map === 'metadata.annotations' ? key.toLowerCase() : key, path, qualifiedName)
  }
  if (!podFields.has(fieldPath)) return conversionError(`field label not supported: ${fieldPath}`)
  // spec.host is the name of spec.nodeName from before 1.0.
  const field = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath
  const fields = use === 'volume' ? volumeFields : environmentFields
  return fields.includes(field) ? valid : [notSupported(at, field, fields)]
}

/** Validates a reference to a resource of a container, for an environment variable or a file. */
export function resourceFieldRef(
  ref: ResourceFieldRef,
  path: string,
  use: 'environment' | 'volume',
): readonly FieldError[] {
  const { containerName, resource, divisor } = ref
  const isNamed = use === 'environment' || containerName
  const isKnown = resourceFields.includes(resource) || hugePages.test(resource ?? '')
  return all(
    !isNamed
      ? [required(`${path}.containerName`)]
      : !resource
        ? [required(`${path}.resource`)]
        : isKnown
          ? valid
          : [notSupported(`${path}.resource`, resource, resourceFields)],
    divisor ? validateDivisor(resource ?? '', divisor, `${path}.divisor`) : valid,
  )
}

const hugePages = /^(limits|requests)\.hugepages-/
const byteUnits = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']
const byteResourceNames: Readonly<Record<string, string>> = {
  memory: 'memory',
  'ephemeral-storage': 'local ephemeral storage',
}

/** Validates a `divisor`, the unit of an amount. */
function validateDivisor(resource: string, divisor: string, path: string): readonly FieldError[] {
  const amount = canonicalQuantity(divisor)
  if (signOf(amount) === 0) return valid
  const name = resource.replace(/^(limits|requests)\./, '')
  if (name === 'cpu')
    return amount === '1m' || amount === '1'
      ? valid
      : [invalidValue(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource")]
  const words = hugePages.test(resource) ? 'hugepages' : own(byteResourceNames, name)
  return words === undefined || byteUnits.includes(amount)
    ? valid
    : [
        invalidValue(
          path,
          resource,
          `only divisor's values ${byteUnits.join(', ')} are supported with the ${words} resource`,
        ),
      ]
}

const keyRef = ({ name, key }: { name?: string; key: string }, path: string): readonly FieldError[] =>
  all(follows(name ?? '', `${path}.name`, dnsSubdomain), requiredRule(key, `${path}.key`, configMapKey))

/** Validates a reference to a key in a file that an init container writes (KEP-3721). */
const fileKeyRef = ({ volumeName, path: file, key }: FileKeyRef, path: string): readonly FieldError[] =>
  all(
    requiredRule(key, `${path}.key`, relaxedEnvVarName),
    requiredRule(volumeName, `${path}.volumeName`, dnsLabel),
    file ? noBacksteps(file, `${path}.path`) : [required(`${path}.path`)],
  )

function valueFrom({ value, valueFrom: from }: EnvVar, path: string): readonly FieldError[] {
  if (!from) return valid
  const errors: FieldError[] = []
  let sources = 0
  if (from.fieldRef) {
    sources++
    errors.push(...fieldRef(from.fieldRef, `${path}.fieldRef`, 'environment'))
  }
  if (from.resourceFieldRef) {
    sources++
    errors.push(...resourceFieldRef(from.resourceFieldRef, `${path}.resourceFieldRef`, 'environment'))
  }
  if (from.configMapKeyRef) {
    sources++
    errors.push(...keyRef(from.configMapKeyRef, `${path}.configMapKeyRef`))
  }
  if (from.secretKeyRef) {
    sources++
    errors.push(...keyRef(from.secretKeyRef, `${path}.secretKeyRef`))
  }
  if (from.fileKeyRef) {
    sources++
    errors.push(...fileKeyRef(from.fileKeyRef, `${path}.fileKeyRef`))
  }
  if (sources === 0)
    errors.push(
      invalidValue(
        path,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
      ),
    )
  if (value && sources > 0) errors.push(invalidValue(path, '', 'may not be specified when `value` is not empty'))
  else if (sources > 1) errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'))
  return errors
}

/** Validates `env` of a container. */
export const environment = (variables: readonly EnvVar[] | undefined, path: string): readonly FieldError[] =>
  each(variables, path, (variable, at) =>
    all(requiredRule(variable.name, `${at}.name`, relaxedEnvVarName), valueFrom(variable, `${at}.valueFrom`)),
  )

/** Allows a trailing dash: upstream validates the name as a prefix. */
const namePrefix = (name: string): string[] => dnsSubdomain(name, true)

/** Validates `envFrom` of a container. */
export function environmentFrom(sources: readonly EnvFromSource[] | undefined, path: string): readonly FieldError[] {
  if (!sources) return valid
  return sources.flatMap(({ prefix, configMapRef, secretRef }, i) => {
    const errors = prefix ? [...follows(prefix, `${path}[${i}].prefix`, relaxedEnvVarName)] : []
    if (configMapRef) errors.push(...requiredRule(configMapRef.name, `${path}[${i}].configMapRef.name`, namePrefix))
    if (secretRef) errors.push(...requiredRule(secretRef.name, `${path}[${i}].secretRef.name`, namePrefix))
    if (!configMapRef && !secretRef)
      errors.push(invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    if (configMapRef && secretRef)
      errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'))
    return errors
  })
}

/** Requires that volumes of fileKeyRefs are emptyDirs: an init container writes the file. */
export function fileKeyVolumes(spec: PodSpec, path: string): readonly FieldError[] {
  // Fast path: few pods have such variables.
  if (![spec.containers, spec.initContainers, spec.ephemeralContainers].some((list) => list?.some(hasFileKeyRef)))
    return valid
  const volumes = new Map(spec.volumes?.map((volume) => [volume.name, volume]))
  return everyContainer(spec, path).flatMap(([{ env }, at]) =>
    each(env, `${at}.env`, ({ valueFrom }, variable) => {
      const name = valueFrom?.fileKeyRef?.volumeName
      if (!valueFrom?.fileKeyRef) return valid
      const field = `${variable}.valueFrom.fileKeyRef.volumeName`
      const volume = volumes.get(name ?? '')
      if (!volume) return [notFoundValue(field, name ?? '')]
      return volume.emptyDir ? valid : [invalidValue(field, name, 'referenced volume must be of type emptyDir')]
    }),
  )
}

const hasFileKeyRef = ({ env }: Pick<Container, 'env'>): boolean =>
  env?.some(({ valueFrom }) => valueFrom?.fileKeyRef) ?? false
