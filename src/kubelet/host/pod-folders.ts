/** The kubelet's files of pods: folders, `/etc/hosts`, and files of termination messages. */
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { podHostname } from '../cri/pod-hostname.ts'
import { type Container, type Pod, specOf } from '../pod-types.ts'
import { removeTree } from '../volumes/mounts/clear-folder.ts'

const marker = '# Kubernetes-managed hosts file.\n'
const hostMarker = '# Kubernetes-managed hosts file (host network).\n'

/** The content of a pod's `/etc/hosts`. */
export interface PodHosts {
  /** The addresses of the pod. */
  readonly ips: readonly string[]
  readonly clusterDomain: string
  /** The text of the node's file. */
  readonly nodeHosts: string
}

export class PodFolders {
  readonly #root: string

  /** `root` is the kubelet's folder, `/var/lib/kubelet`. */
  constructor(root: string) {
    this.#root = root
  }

  folderOf(uid: string): string {
    return join(this.#root, 'pods', uid)
  }

  async create({ metadata: { uid = '' } }: Pod): Promise<void> {
    for (const name of ['volumes', 'plugins', 'containers'])
      await mkdir(join(this.folderOf(uid), name), { recursive: true, mode: 0o750 })
  }

  /** Removes the folder of a pod whose volumes were removed. Rejects if it contains another file system. */
  async remove(uid: string): Promise<void> {
    await removeTree(this.folderOf(uid))
  }

  /** The UIDs of all pods that have a folder. */
  async uids(): Promise<string[]> {
    return readdir(join(this.#root, 'pods')).catch(() => [])
  }

  /** Writes the pod's `/etc/hosts` and returns its path. With the node's network it is the node's with additions. */
  async writeHosts(pod: Pod, hosts: PodHosts): Promise<string> {
    const path = join(this.folderOf(pod.metadata.uid ?? ''), 'etc-hosts')
    const aliases = (specOf(pod).hostAliases ?? [])
      .map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}\n`)
      .join('')
    const added = aliases ? `\n# Entries added by HostAliases.\n${aliases}` : ''
    const text = specOf(pod).hostNetwork
      ? `${hostMarker}${hosts.nodeHosts}`
      : `${marker}${loopback}${ownLines(pod, hosts)}`
    await writeFile(path, text + added, { mode: 0o644 })
    return path
  }

  /** Creates the file for a container's termination message and returns its path. */
  async createMessageFile({ metadata: { uid = '' } }: Pod, { name }: Container, restartCount: number): Promise<string> {
    const folder = join(this.folderOf(uid), 'containers', name)
    await mkdir(folder, { recursive: true, mode: 0o750 })
    const path = join(folder, restartCount.toString(16).padStart(8, '0'))
    await writeFile(path, '')
    // Containers of all users write it, whatever the umask is.
    await chmod(path, 0o666)
    return path
  }
}

const loopback =
  '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n' +
  'fe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n'

/** The lines of the pod's own addresses: its full name comes first if it has a domain. */
function ownLines(pod: Pod, { ips, clusterDomain }: PodHosts): string {
  const { name, domain } = podHostname(pod, clusterDomain)
  const full = domain ? `${name}.${domain}\t` : ''
  return ips.map((ip) => `${ip}\t${full}${name}\n`).join('')
}
