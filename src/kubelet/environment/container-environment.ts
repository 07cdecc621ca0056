/** The environment of a container: Services, `envFrom`, then `env` in its order, each overriding those before. */
import type { ConfigMap, Secret } from '../../client/kinds.ts'
import type { Container, Pod } from '../pod-types.ts'
import { expand } from './expand.ts'

/** The objects and values that variables refer to. Lookups resolve with undefined for a missing object. */
export interface EnvironmentSources {
  readonly services: ReadonlyMap<string, string>
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>
  secret(namespace: string, name: string): Promise<Secret | undefined>
  field(path: string): string
  resource(selector: { readonly containerName?: string; readonly resource: string; readonly divisor?: string }): string
}

/** The container cannot be configured; the message is upstream's. */
export class ConfigError extends Error {}

type Variable = NonNullable<Container['env']>[number]
type Source = NonNullable<Container['envFrom']>[number]

/** Rejects with a ConfigError if a required object or key is missing. */
export async function containerEnvironment(
  pod: Pod,
  container: Container,
  sources: EnvironmentSources,
): Promise<Map<string, string>> {
  const namespace = pod.metadata.namespace ?? ''
  const environment = new Map(sources.services)
  for (const source of container.envFrom ?? [])
    for (const [name, value] of Object.entries(await valuesOf(source, namespace, sources)))
      environment.set(`${source.prefix ?? ''}${name}`, value)
  // References see the Services and `envFrom`, and the variables before.
  for (const variable of container.env ?? []) {
    const value = await variableValue(variable, namespace, environment, sources)
    if (value !== undefined) environment.set(variable.name, value)
  }
  return environment
}

async function valuesOf(
  { configMapRef, secretRef }: Source,
  namespace: string,
  sources: EnvironmentSources,
): Promise<Readonly<Record<string, string>>> {
  if (configMapRef) {
    const { name = '', optional } = configMapRef
    const found = await sources.configMap(namespace, name)
    if (!found && !optional) throw new ConfigError(`configmap ${JSON.stringify(name)} not found`)
    return found?.data ?? {}
  }
  if (secretRef) {
    const { name = '', optional } = secretRef
    const found = await sources.secret(namespace, name)
    if (!found && !optional) throw new ConfigError(`secret ${JSON.stringify(name)} not found`)
    return decoded(found)
  }
  return {}
}

/** Undefined for an optional key that is missing: the variable is not set. */
async function variableValue(
  { value, valueFrom }: Variable,
  namespace: string,
  environment: ReadonlyMap<string, string>,
  sources: EnvironmentSources,
): Promise<string | undefined> {
  if (!valueFrom) return expand(value ?? '', environment)
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom
  if (fieldRef) return sources.field(fieldRef.fieldPath)
  if (resourceFieldRef) return sources.resource(resourceFieldRef as Parameters<EnvironmentSources['resource']>[0])
  if (configMapKeyRef) {
    const { name = '', key, optional } = configMapKeyRef
    const found = await sources.configMap(namespace, name)
    return keyOf('configmap', 'ConfigMap', namespace, name, key, optional, found && (found.data ?? {}))
  }
  if (secretKeyRef) {
    const { name = '', key, optional } = secretKeyRef
    const found = await sources.secret(namespace, name)
    return keyOf('secret', 'Secret', namespace, name, key, optional, found && decoded(found))
  }
  return undefined
}

function keyOf(
  resource: string,
  kind: string,
  namespace: string,
  name: string,
  key: string,
  optional: boolean | undefined,
  values: Readonly<Record<string, string>> | undefined,
): string | undefined {
  const value = values?.[key]
  if (value !== undefined || optional) return value
  if (!values) throw new ConfigError(`${resource} ${JSON.stringify(name)} not found`)
  throw new ConfigError(`couldn't find key ${key} in ${kind} ${namespace}/${name}`)
}

const decoded = (secret: Secret | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  )
