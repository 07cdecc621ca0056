/**
 * EncryptionConfiguration (apiserver.config.k8s.io/v1), the file of `--encryption-provider-config`: its schema and
 * validation.
 */
import { aggregated } from '../../lib/go/aggregate.ts'
import { goDuration, goDurationMs } from '../../lib/go/go-duration.ts'
import {
  type ConfigurationKind,
  decodeConfiguration,
  int32,
  listOf,
  structOf,
  text,
} from '../../machinery/decode/configuration.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { parseUrl, UrlError } from '../../machinery/values/go-url.ts'
import { fromYaml } from '../../machinery/yaml.ts'

export interface EncryptionKey {
  readonly name: string
  /** Base64. */
  readonly secret: string
}

interface Keys {
  readonly keys?: readonly EncryptionKey[]
}

export interface KmsConfiguration {
  /** Default: `v1`, which is no longer supported. */
  readonly apiVersion?: string
  readonly name?: string
  /** For example `unix:///run/kms.sock`. */
  readonly endpoint?: string
  /** A Go duration. Default: 3 s. */
  readonly timeout?: string
  readonly cachesize?: number
}

export interface ProviderConfiguration {
  readonly aescbc?: Keys
  readonly aesgcm?: Keys
  readonly secretbox?: Keys
  readonly kms?: KmsConfiguration
  readonly identity?: object
}

export interface ResourceConfiguration {
  /** `secrets`, `deployments.apps`, `*.apps`, `*.`, `*.*` */
  readonly resources?: readonly string[]
  readonly providers?: readonly ProviderConfiguration[]
}

export interface EncryptionConfiguration {
  readonly resources?: readonly ResourceConfiguration[]
}

const keys = structOf('KeysConfiguration', { keys: listOf(structOf('Key', { name: text, secret: text })) })

const configurationKind: ConfigurationKind = {
  kind: 'EncryptionConfiguration',
  versions: ['apiserver.config.k8s.io/v1', 'v1'],
  fields: {
    resources: listOf(
      structOf('ResourceConfiguration', {
        resources: listOf(text),
        providers: listOf(
          structOf('ProviderConfiguration', {
            aescbc: keys,
            aesgcm: keys,
            secretbox: keys,
            kms: structOf('KMSConfiguration', {
              apiVersion: text,
              name: text,
              cachesize: int32,
              endpoint: text,
              timeout: text,
            }),
            identity: structOf('IdentityConfiguration', {}),
          }),
        ),
      }),
    ),
  },
}

/** Parses a file's text. Throws an Error with all faults, but without secrets. */
export function readEncryptionConfiguration(yaml: string): EncryptionConfiguration {
  const configuration = decodeConfiguration<EncryptionConfiguration>(fromYaml(yaml), configurationKind)
  const errors = faults(configuration)
  if (errors.length > 0) throw new Error(aggregated(errors.map(({ field, message }) => `${field}: ${message}`)))
  checkMasked(configuration)
  return configuration
}

/** Throws for a rule that is masked by an earlier one. */
function checkMasked({ resources = [] }: EncryptionConfiguration): void {
  const earlier = new Set<string>()
  for (const { resources: names = [] } of resources) {
    for (const name of names) {
      const mask = [`*.${groupResource(name).group}`, '*.*'].find((rule) => earlier.has(rule))
      if (mask)
        throw new Error(`error while building transformers: resource "${name}" is masked by earlier rule "${mask}"`)
      earlier.add(name)
    }
  }
}

const aesSizes = [16, 24, 32]
const secretboxSizes = [32]

function faults({ resources = [] }: EncryptionConfiguration): FieldError[] {
  if (resources.length === 0) return [required('resources', 'at least one resources is required')]
  const kmsNames = new Set<string>()
  return resources.flatMap(({ resources: names = [], providers = [] }, i) => {
    const path = `resources[${i}]`
    return [
      ...(names.length === 0 ? [required(`${path}.resources`, `at least one ${path}.resources is required`)] : []),
      ...overlaps(names, `${path}.resources`),
      ...names.flatMap((name, j) => resourceFaults(name, `${path}.resources[${j}]`)),
      ...(providers.length === 0 ? [required(`${path}.providers`, `at least one ${path}.providers is required`)] : []),
      ...providers.flatMap((provider, j) => providerFaults(provider, `${path}.providers[${j}]`, kmsNames)),
    ]
  })
}

/** Splits a name such as `deployments.apps` into resource and group. */
export function groupResource(name: string): { readonly resource: string; readonly group: string } {
  const dot = name.indexOf('.')
  return dot < 0 ? { resource: name, group: '' } : { resource: name.slice(0, dot), group: name.slice(dot + 1) }
}

function overlaps(names: readonly string[], path: string): FieldError[] {
  const parsed = names.map(groupResource)
  const pairs = parsed.flatMap((a, i) => parsed.slice(i + 1).map((b) => [a, b] as const))
  const isAll = ({ group, resource }: { group: string; resource: string }): boolean => group === '*' && resource === '*'
  const same = pairs.some(([a, b]) => a.group === b.group && a.resource === b.resource)
  const masked = pairs.some(
    ([a, b]) => isAll(a) || isAll(b) || (a.group === b.group && (a.resource === '*' || b.resource === '*')),
  )
  return [
    ...(same ? [invalidValue(path, names, 'the same resource cannot be specified multiple times')] : []),
    ...(masked
      ? [
          invalidValue(
            path,
            names,
            "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as " +
              'they will be masked',
          ),
        ]
      : []),
  ]
}

const hasNoApi: ReadonlySet<string> = new Set(['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations'])

function resourceFaults(name: string, path: string): FieldError[] {
  const wrong = resourceFault(name)
  return wrong ? [invalidValue(path, name, wrong)] : []
}

function resourceFault(name: string): string | undefined {
  const { group, resource } = groupResource(name)
  if (name.toLowerCase() !== name) return 'resource name should not contain capital letters'
  if (name === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
  if (hasNoApi.has(name)) return 'resources which do not have REST API/s cannot be encrypted'
  if (group === 'events.k8s.io')
    return (
      "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the " +
      'config file'
    )
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption"
  if (group === '*' && resource !== '*') return 'encrypting the same resource across groups is not supported'
  return undefined
}

function providerFaults(provider: ProviderConfiguration, path: string, kmsNames: Set<string>): FieldError[] {
  const { kms, aesgcm, aescbc, secretbox, identity } = provider
  const given = [kms, aesgcm, aescbc, secretbox, identity].filter((one) => one !== undefined)
  if (given.length === 0)
    return [
      invalidValue(
        path,
        provider,
        'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity',
      ),
    ]
  // The message must not contain secrets.
  if (given.length > 1)
    return [
      invalidValue(
        path,
        Object.keys(provider),
        'more than one provider specified in a single element, should split into different list elements',
      ),
    ]
  if (kms) return kmsFaults(kms, `${path}.kms`, kmsNames)
  if (aesgcm) return keyFaults(aesgcm, `${path}.aesgcm.keys`, aesSizes)
  if (aescbc) return keyFaults(aescbc, `${path}.aescbc.keys`, aesSizes)
  return secretbox ? keyFaults(secretbox, `${path}.secretbox.keys`, secretboxSizes) : []
}

function keyFaults({ keys = [] }: Keys, path: string, sizes: readonly number[]): FieldError[] {
  if (keys.length === 0) return [required(path, 'at least one keys is required')]
  return keys.flatMap(({ name, secret }, i) => {
    const field = `${path}[${i}]`
    const unnamed = name ? [] : [required(`${field}.name`, 'name is a mandatory field for a key')]
    if (!secret) return [...unnamed, required(`${field}.secret`, 'secret is a mandatory field for a key')]
    if (!isBase64(secret))
      return [...unnamed, invalidValue(`${field}.secret`, 'REDACTED', 'secrets must be base64 encoded')]
    const { length } = Buffer.from(secret, 'base64')
    if (sizes.includes(length)) return unnamed
    return [
      ...unnamed,
      invalidValue(
        `${field}.secret`,
        'REDACTED',
        `secret is not of the expected length, got ${length}, expected one of [${sizes.join(' ')}]`,
      ),
    ]
  })
}

/** Accepts line breaks. */
function isBase64(text: string): boolean {
  const line = text.replace(/[\r\n]/g, '')
  return /^[A-Za-z0-9+/]*={0,2}$/.test(line) && line.length % 4 === 0
}

export const defaultKmsTimeout = '3s'

function kmsFaults(
  { apiVersion = 'v1', name = '', endpoint = '', timeout = defaultKmsTimeout, cachesize }: KmsConfiguration,
  path: string,
  names: Set<string>,
): FieldError[] {
  const known = names.has(name)
  const ms = goDurationMs(timeout)
  names.add(name)
  if (apiVersion !== 'v2') {
    const why =
      apiVersion === 'v1'
        ? 'KMSv1 is gone: it was deprecated in Kubernetes 1.28 and is off since 1.29; use a plug-in that speaks v2'
        : 'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported'
    return [invalidValue(`${path}.apiVersion`, apiVersion, why)]
  }
  return [
    ...(name ? [] : [required(`${path}.name`, 'name is a mandatory field for a provider')]),
    ...(name.includes(':')
      ? [invalidValue(`${path}.name`, name, `invalid KMS provider name ${name}, must not contain ':'`)]
      : []),
    ...(known ? [invalidValue(`${path}.name`, name, `duplicate KMS provider name ${name}, names must be unique`)] : []),
    ...(ms > 0 ? [] : [invalidValue(`${path}.timeout`, goDuration(ms), 'timeout should be a positive value')]),
    ...endpointFaults(endpoint, `${path}.endpoint`),
    ...(cachesize === undefined
      ? []
      : [invalidValue(`${path}.cachesize`, cachesize, 'cachesize is not supported in v2')]),
  ]
}

function endpointFaults(endpoint: string, path: string): FieldError[] {
  if (!endpoint) return [invalidValue(path, '', 'endpoint is a mandatory field for a kms')]
  try {
    const { scheme } = parseUrl(endpoint)
    return scheme === 'unix'
      ? []
      : [
          invalidValue(
            path,
            endpoint,
            `unsupported scheme ${JSON.stringify(scheme)} for KMS provider, only unix is supported`,
          ),
        ]
  } catch (error) {
    if (error instanceof UrlError)
      return [invalidValue(path, endpoint, `invalid endpoint for kms provider, error: ${error.message}`)]
    throw error
  }
}
