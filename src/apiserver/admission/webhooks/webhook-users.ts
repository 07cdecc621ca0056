/**
 * The client credentials for webhooks, from the plug-in's section of `--admission-control-config-file`
 * (WebhookAdmissionConfiguration of apiserver.config.k8s.io, field `kubeConfigFile`).
 */
import { authorizationOf } from '../../../kubeconfig/connection.ts'
import type { NamedUsers } from '../../../kubeconfig/named-users.ts'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { isObject } from '../../../machinery/fields/json.ts'
import type { WebhookClientOptions, WebhookConfig } from '../../outgoing/webhooks/index.ts'

const groupVersion = 'apiserver.config.k8s.io/v1'
const olderVersion = 'apiserver.config.k8s.io/v1alpha1'
const names: ReadonlyMap<unknown, string> = new Map([
  [groupVersion, 'WebhookAdmissionConfiguration'],
  [olderVersion, 'WebhookAdmission'],
])

/**
 * Returns the kubeconfig path of a plug-in's configuration; undefined if there is none. Throws an ExplainedError for an
 * invalid configuration.
 */
export function kubeConfigFileOf(plugin: string, configuration: unknown): string | undefined {
  if (configuration === undefined || configuration === null) return undefined
  const refused = (why: string): ExplainedError =>
    new ExplainedError(
      `the configuration of ${plugin} is wrong: ${why}; correct its part of the file of ` +
        '--admission-control-config-file',
    )
  if (!isObject(configuration)) throw refused(`it has to be a WebhookAdmissionConfiguration of ${groupVersion}`)
  const { apiVersion, kind, kubeConfigFile, ...others } = configuration
  if (names.get(apiVersion) !== kind)
    throw refused(`it is a ${kind} of ${apiVersion}, and has to be a WebhookAdmissionConfiguration of ${groupVersion}`)
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw refused(`unknown field ${JSON.stringify(unknown)}`)
  if (kubeConfigFile === undefined || kubeConfigFile === '') return undefined
  if (typeof kubeConfigFile !== 'string') throw refused('kubeConfigFile has to name a file')
  return kubeConfigFile
}

/** Returns the client options that authenticate this server to a webhook. */
export function credentialsFor(
  users: NamedUsers,
  { url, service }: WebhookConfig,
): Pick<WebhookClientOptions, 'tls' | 'authorization'> {
  const server = service ? `${service.name}.${service.namespace}.svc:${service.port ?? 443}` : hostPort(url ?? '')
  const credentials = users(server)
  const { cert, key } = credentials
  return { authorization: authorizationOf(credentials), ...(cert && key && { tls: { cert, key } }) }
}

function hostPort(url: string): string {
  const { hostname, port } = URL.parse(url) ?? {}
  return `${hostname}:${port || 443}`
}
