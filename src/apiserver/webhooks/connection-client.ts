/** A client of the webhook that a kubeconfig names. */
import { readFile } from 'node:fs/promises'
import type { Connection } from '../../kubeconfig/read-kubeconfig.ts'
import { WebhookClient, type WebhookClientOptions } from './webhook-client.ts'

export function connectionClient(connection: Connection, options: Omit<WebhookClientOptions, 'tls' | 'authorization'>): WebhookClient {
  const { url, ca, insecure, serverName, cert, key, token, tokenFile, basic } = connection
  const bearer = token ? async () => `Bearer ${token}` : tokenFile ? async () => `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` : undefined
  const password = basic && (async () => `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`)
  return new WebhookClient(
    { url: url.href, ...(ca && { caBundle: Buffer.from(ca).toString('base64') }) },
    {
      ...options,
      tls: { ...(serverName && { servername: serverName }), ...(cert && key && { cert, key }), ...(insecure && { rejectUnauthorized: false }) },
      authorization: bearer ?? password,
    },
  )
}
