/** A stand-in for the registry of npm, on a free port: serves this package and the one it depends on. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { run } from '../../package/installed.ts'
import type { Lifetime } from '../../support/reachable-cluster.ts'
import { repository, temporaryFolder } from '../../up/t8s-process.ts'

interface Manifest {
  readonly name: string
  readonly version: string
}

/** Packs the packages, without declarations, serves them until the end of `owner`, and returns the URL. */
export async function serveRegistry(owner: Lifetime): Promise<string> {
  const folder = temporaryFolder(owner)
  const names = [repository, join(repository, `node_modules/@koromix/koffi-linux-${process.arch}`)]
  const packages = new Map<string, { readonly manifest: Manifest; readonly tarball: Buffer }>()
  for (const source of names) {
    const manifest: Manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
    packages.set(manifest.name, { manifest, tarball: await packed(source, folder) })
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '')
    const name = path.slice(1).replace(/\/-\/.*$/, '')
    const found = packages.get(name)
    if (!found) return response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}')
    if (path.includes('/-/')) return response.end(found.tarball)
    const { manifest, tarball } = found
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`
    const dist = { integrity, tarball: `http://${request.headers.host}/${name}/-/package.tgz` }
    const versions = { [manifest.version]: { ...manifest, dist } }
    return response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ name, 'dist-tags': { latest: manifest.version }, versions }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  owner.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function packed(source: string, folder: string): Promise<Buffer> {
  const options = ['--ignore-scripts', '--silent', '--pack-destination', folder]
  const { code, stdout, stderr } = await run(dirname(process.execPath), source, 'npm', 'pack', ...options)
  if (code !== 0) throw new Error(`npm pack in ${source}: ${stderr}`)
  return readFileSync(join(folder, stdout.trim()))
}
