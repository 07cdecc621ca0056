/** Files of a sandbox that its containers see: `/etc/hostname`, `/etc/hosts`, `/etc/resolv.conf`. */
import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DNSConfig } from '#protobuf/cri-runtime_pb.js'
import type { SandboxPaths } from '../spec/mounts.ts'
import { namespaceFiles } from './namespaces.ts'
import type { UserMappings } from './user-namespace.ts'

/** `sharesHostIpc`: the containers see the host's shared memory. */
export const podPaths = (folder: string, sharesHostIpc: boolean): SandboxPaths => ({
  hostname: join(folder, 'hostname'),
  hosts: join(folder, 'hosts'),
  resolvConf: join(folder, 'resolv.conf'),
  shm: sharesHostIpc ? '/dev/shm' : namespaceFiles(folder).shm,
})

/** The files belong to root of the pod. */
export function writePodFiles(
  { hostname, hosts, resolvConf }: SandboxPaths,
  name: string,
  dns: DNSConfig | undefined,
  users: UserMappings | undefined,
): void {
  const write = (file: string, text: string): void => {
    writeFileSync(file, text, { mode: 0o644 })
    if (users) chownSync(file, users.uids.hostId, users.gids.hostId)
  }
  write(hostname, `${name}\n`)
  write(hosts, textOf('/etc/hosts'))
  write(resolvConf, (dns && resolvConfOf(dns)) || textOf('/etc/resolv.conf'))
}

const textOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')

/** The text of `/etc/resolv.conf`; '' without values. */
export function resolvConfOf({ servers, searches, options }: DNSConfig): string {
  const lines = [
    ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
  ]
  return lines.map((line) => `${line}\n`).join('')
}
