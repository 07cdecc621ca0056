/** Rules for environment variables and for what the downward API offers. */
import { type FieldError, invalidValue, notSupported, required } from '../../../../machinery/validation/field-error.ts'
import { all, each, follows, requiredRule, valid } from '../../../../machinery/validation/field-rules.ts'
import { configMapKey, dnsSubdomain, qualifiedName, relaxedEnvVarName } from '../../../../machinery/validation/names.ts'
import type { Container } from '../model.ts'

type EnvVar = NonNullable<Container['env']>[number]
type EnvFromSource = NonNullable<Container['envFrom']>[number]
interface FieldRef {
  apiVersion?: string
  fieldPath: string
}
interface ResourceFieldRef {
  containerName?: string
  resource: string
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
const resourceFields = ['limits.cpu', 'limits.ephemeral-storage', 'limits.memory', 'requests.cpu', 'requests.ephemeral-storage', 'requests.memory']
const podFields = new Set([...environmentFields, ...volumeFields, 'spec.host', 'spec.restartPolicy', 'spec.schedulerName', 'status.phase'])

/** A field of the pod, for an environment variable or a file. */
export function fieldRef({ apiVersion, fieldPath }: FieldRef, path: string, use: 'environment' | 'volume'): readonly FieldError[] {
  if (!apiVersion) return [required(`${path}.apiVersion`)]
  if (!fieldPath) return [required(`${path}.fieldPath`)]
  const at = `${path}.fieldPath`
  const subscripted = /^([^[]+)\['([^']*)'\]$/.exec(fieldPath)
  const field = subscripted?.[1] ?? fieldPath
  if (apiVersion !== 'v1') return [invalidValue(at, fieldPath, `error converting fieldPath: unsupported pod version: ${apiVersion}`)]
  if (!podFields.has(field)) return [invalidValue(at, fieldPath, `error converting fieldPath: field label not supported: ${field}`)]
  if (subscripted) {
    if (field === 'metadata.annotations') return follows(subscripted[2]?.toLowerCase(), path, qualifiedName)
    if (field === 'metadata.labels') return follows(subscripted[2], path, qualifiedName)
    return [invalidValue(path, fieldPath, 'does not support subscript')]
  }
  const fields = use === 'volume' ? volumeFields : environmentFields
  return fields.includes(field) ? valid : [notSupported(at, fieldPath, fields)]
}

/** A resource of a container, for an environment variable or a file. */
export function resourceFieldRef({ containerName, resource }: ResourceFieldRef, path: string, use: 'environment' | 'volume'): readonly FieldError[] {
  if (use === 'volume' && !containerName) return [required(`${path}.containerName`)]
  if (!resource) return [required(`${path}.resource`)]
  return resourceFields.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource)
    ? valid
    : [notSupported(`${path}.resource`, resource, resourceFields)]
}

const keyRef = ({ name, key }: { name?: string; key: string }, path: string): readonly FieldError[] =>
  all(follows(name ?? '', `${path}.name`, dnsSubdomain), requiredRule(key, `${path}.key`, configMapKey))

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
  if (from.fileKeyRef) sources++
  if (sources === 0)
    errors.push(invalidValue(path, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'))
  if (value && sources > 0) errors.push(invalidValue(path, '', 'may not be specified when `value` is not empty'))
  else if (sources > 1) errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'))
  return errors
}

/** `env` of a container. */
export const environment = (variables: readonly EnvVar[] | undefined, path: string): readonly FieldError[] =>
  each(variables, path, (variable, at) => all(requiredRule(variable.name, `${at}.name`, relaxedEnvVarName), valueFrom(variable, `${at}.valueFrom`)))

/** `envFrom` of a container. */
export function environmentFrom(sources: readonly EnvFromSource[] | undefined, path: string): readonly FieldError[] {
  if (!sources) return valid
  return sources.flatMap(({ prefix, configMapRef, secretRef }, i) => {
    const errors = prefix ? [...follows(prefix, `${path}[${i}].prefix`, relaxedEnvVarName)] : []
    if (configMapRef) errors.push(...requiredRule(configMapRef.name, `${path}[${i}].configMapRef.name`, dnsSubdomain))
    if (secretRef) errors.push(...requiredRule(secretRef.name, `${path}[${i}].secretRef.name`, dnsSubdomain))
    if (!configMapRef && !secretRef) errors.push(invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    if (configMapRef && secretRef) errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'))
    return errors
  })
}
