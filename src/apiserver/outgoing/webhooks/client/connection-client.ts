/** A client of the webhook in a kubeconfig. */
import { authorizationOf, type Connection } from '../../../../kubeconfig/connection.ts'
import { WebhookClient, type WebhookClientOptions } from './webhook-client.ts'

export function connectionClient(
  connection: Connection,
  options: Omit<WebhookClientOptions, 'tls' | 'authorization'>,
): WebhookClient {
  const { url, ca, insecure, serverName, cert, key } = connection
  return new WebhookClient(
    { url: url.href, ...(ca && { caBundle: Buffer.from(ca).toString('base64') }) },
    {
      ...options,
      tls: {
        ...(serverName && { servername: serverName }),
        ...(cert && key && { cert, key }),
        ...(insecure && { rejectUnauthorized: false }),
      },
      authorization: authorizationOf(connection),
    },
  )
}
