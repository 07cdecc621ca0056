/**
 * A registry of images (OCI distribution, pulls only), as a process of its own so that it can run in another network
 * namespace. Arguments: the port, a folder with an OCI image layout, and the login for repositories below `private/`.
 * Prints a line for each manifest that is read.
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly annotations: Readonly<Record<string, string>>
}

const [port = '', folder = '', login = ''] = process.argv.slice(2)
const { manifests } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as { manifests: Descriptor[] }
const authorization = `Basic ${Buffer.from(login).toString('base64')}`
function answer({ url = '', headers, method = '' }: IncomingMessage, response: ServerResponse): void {
  const [, repository = '', kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url) ?? []
  if (repository.startsWith('private/') && headers.authorization !== authorization)
    response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
  else if (kind === 'manifests') answerManifest(repository, reference, method, response)
  else if (kind === 'blobs') answerBlob(reference, response)
  else response.writeHead(url === '/v2/' ? 200 : 404).end()
}

function answerManifest(repository: string, reference: string, method: string, response: ServerResponse): void {
  const name = `127.0.0.1:${port}/${repository}:${reference}`
  const found = manifests.find(
    ({ digest, annotations }) => digest === reference || annotations['io.containerd.image.name'] === name,
  )
  console.log(`${method} ${repository}:${reference} ${found ? 200 : 404}`)
  if (!found) {
    response.writeHead(404).end(JSON.stringify({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] }))
    return
  }
  const bytes = readFileSync(join(folder, 'blobs', found.digest.replace(':', '/')))
  const headers = { 'content-type': found.mediaType, 'docker-content-digest': found.digest }
  response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(method === 'HEAD' ? undefined : bytes)
}

function answerBlob(digest: string, response: ServerResponse): void {
  const bytes = readFileSync(join(folder, 'blobs', digest.replace(/[^a-z0-9:]/g, '').replace(':', '/')))
  response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
}

createServer(answer).listen(Number(port), '127.0.0.1', () => console.log('ready'))
