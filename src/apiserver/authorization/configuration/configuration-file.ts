/**
 * AuthorizationConfiguration (apiserver.config.k8s.io): the file of `--authorization-config`, decoded strictly, with
 * defaults applied.
 */

import { goDurationMs } from '../../../lib/go/flag-values.ts'
import { decode } from '../../../machinery/decode/index.ts'
import type { Field, FieldType, StructType } from '../../../machinery/schema.ts'
import { parseYaml } from '../../../machinery/yaml.ts'

export interface AuthorizationConfiguration {
  readonly authorizers: readonly AuthorizerConfiguration[]
}

export interface AuthorizerConfiguration {
  readonly type: string
  readonly name: string
  readonly webhook?: WebhookConfiguration
}

/** Durations in ms; 0 if missing and without a default. */
export interface WebhookConfiguration {
  readonly authorizedMs: number
  readonly cachesAuthorized: boolean
  readonly unauthorizedMs: number
  readonly cachesUnauthorized: boolean
  readonly timeoutMs: number
  readonly subjectAccessReviewVersion: string
  readonly matchConditionSubjectAccessReviewVersion: string
  readonly failurePolicy: string
  readonly connectionType: string
  readonly kubeConfigFile?: string
  readonly matchConditions: readonly string[]
}

const group = 'apiserver.config.k8s.io'
const versions: ReadonlySet<string> = new Set(['v1alpha1', 'v1beta1', 'v1'])
const kind = 'AuthorizationConfiguration'

interface FileWebhook {
  readonly authorizedTTL?: string
  readonly cacheAuthorizedRequests?: boolean
  readonly unauthorizedTTL?: string
  readonly cacheUnauthorizedRequests?: boolean
  readonly timeout?: string
  readonly subjectAccessReviewVersion?: string
  readonly matchConditionSubjectAccessReviewVersion?: string
  readonly failurePolicy?: string
  readonly connectionInfo?: { readonly type?: string; readonly kubeConfigFile?: string }
  readonly matchConditions?: readonly { readonly expression?: string }[]
}

interface FileConfiguration {
  readonly authorizers?: readonly { readonly type?: string; readonly name?: string; readonly webhook?: FileWebhook }[]
}

const struct = (goName: string, fields: Readonly<Record<string, FieldType>>): StructType => ({
  kind: 'struct',
  definition: goName,
  goName,
  fields: new Map(Object.entries(fields).map(([name, type]): [string, Field] => [name, { type, keepsEmpty: true }])),
  required: new Set(),
  atomic: false,
  groupVersionKinds: [],
})

const string: FieldType = { kind: 'string' }
const boolean: FieldType = { kind: 'boolean' }

const fileType = struct(kind, {
  apiVersion: string,
  kind: string,
  authorizers: {
    kind: 'array',
    items: struct('AuthorizerConfiguration', {
      type: string,
      name: string,
      webhook: struct('WebhookConfiguration', {
        authorizedTTL: string,
        cacheAuthorizedRequests: boolean,
        unauthorizedTTL: string,
        cacheUnauthorizedRequests: boolean,
        timeout: string,
        subjectAccessReviewVersion: string,
        matchConditionSubjectAccessReviewVersion: string,
        failurePolicy: string,
        connectionInfo: struct('WebhookConnectionInfo', { type: string, kubeConfigFile: string }),
        matchConditions: { kind: 'array', items: struct('WebhookMatchCondition', { expression: string }) },
      }),
    }),
  },
})

/** Throws an Error for an invalid configuration. An empty text has no authorizers. */
export function parseConfiguration(text: string): AuthorizationConfiguration {
  if (text === '') return { authorizers: [] }
  const { value, strict } = parseYaml(text)
  checkKind(value)
  const decoded = decode(fileType, value)
  const faults = [...strict, ...decoded.strict]
  if (faults.length > 0) throw new Error(`strict decoding error: ${faults.join(', ')}`)
  const { authorizers = [] } = decoded.object as FileConfiguration
  return {
    authorizers: authorizers.map(({ type = '', name = '', webhook }) => ({
      type,
      name,
      ...(webhook && { webhook: withDefaults(webhook) }),
    })),
  }
}

function checkKind(value: unknown): void {
  const { apiVersion, kind: fileKind } = (typeof value === 'object' && value !== null ? value : {}) as {
    readonly apiVersion?: unknown
    readonly kind?: unknown
  }
  if (typeof fileKind !== 'string' || !fileKind) throw new Error("Object 'Kind' is missing in the file")
  if (typeof apiVersion !== 'string' || !apiVersion) throw new Error("Object 'apiVersion' is missing in the file")
  const [fileGroup, version = ''] = apiVersion.split('/')
  if (fileGroup !== group || !versions.has(version) || fileKind !== kind) {
    throw new Error(
      `no kind ${JSON.stringify(fileKind)} is registered for version ${JSON.stringify(apiVersion)} in scheme ` +
        '"pkg/apis/apiserver/scheme"',
    )
  }
}

const defaultAuthorizedTtl = '5m'
const defaultUnauthorizedTtl = '30s'

function withDefaults(webhook: FileWebhook): WebhookConfiguration {
  const {
    authorizedTTL = defaultAuthorizedTtl,
    unauthorizedTTL = defaultUnauthorizedTtl,
    timeout = '0',
    connectionInfo = {},
    matchConditions = [],
  } = webhook
  return {
    authorizedMs: goDurationMs(authorizedTTL) || goDurationMs(defaultAuthorizedTtl),
    cachesAuthorized: webhook.cacheAuthorizedRequests ?? true,
    unauthorizedMs: goDurationMs(unauthorizedTTL) || goDurationMs(defaultUnauthorizedTtl),
    cachesUnauthorized: webhook.cacheUnauthorizedRequests ?? true,
    timeoutMs: goDurationMs(timeout),
    subjectAccessReviewVersion: webhook.subjectAccessReviewVersion ?? '',
    matchConditionSubjectAccessReviewVersion: webhook.matchConditionSubjectAccessReviewVersion ?? '',
    failurePolicy: webhook.failurePolicy ?? '',
    connectionType: connectionInfo.type ?? '',
    ...(connectionInfo.kubeConfigFile !== undefined && { kubeConfigFile: connectionInfo.kubeConfigFile }),
    matchConditions: matchConditions.map(({ expression = '' }) => expression),
  }
}
