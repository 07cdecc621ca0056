/** The address of a webhook: a URL, or one of the endpoints of a Service, so that no cluster network is needed. */
import type { ApiextensionsV1WebhookClientConfig } from '@kubernetes/client-node'
import type { Wire } from '../../../../machinery/object.ts'
import { StatusError } from '../../../../machinery/status-error.ts'
import type { ServiceSources } from '../../index.ts'
import { resolveService } from '../../index.ts'

export type WebhookConfig = Wire<ApiextensionsV1WebhookClientConfig>

export interface Place {
  readonly host: string
  readonly port: number
}

export interface WebhookAddress {
  /** The URL in error messages. */
  readonly url: URL
  /** The name that the certificate must have. */
  readonly serverName: string
  /** Resolves the address to connect to. Rejects with an Error if there is none. */
  dial(): Promise<Place>
}

const httpsPort = 443

/** Throws a TypeError for an invalid URL. */
export function webhookAddress({ url, service }: WebhookConfig, sources: ServiceSources): WebhookAddress {
  if (service) {
    const { namespace, name, path = '/', port = httpsPort } = service
    const serverName = `${name}.${namespace}.svc`
    return {
      url: new URL(`https://${serverName}${path.startsWith('/') ? path : `/${path}`}`),
      serverName,
      dial: () =>
        resolveService(sources, { namespace, name, port }).catch((error) => Promise.reject(serviceError(error, name))),
    }
  }
  const parsed = new URL(url ?? '')
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1')
  return {
    url: parsed,
    serverName: host,
    dial: () => Promise.resolve({ host, port: Number(parsed.port || httpsPort) }),
  }
}

/** These messages contain the kind of the Service, not its resource. */
const serviceError = (error: unknown, name: string): unknown =>
  error instanceof StatusError && error.code === 404 ? new Error(`service ${JSON.stringify(name)} not found`) : error
