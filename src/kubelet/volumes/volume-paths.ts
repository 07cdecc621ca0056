/** Where the kubelet stores the volumes of pods. The layout is upstream's. */
import { join } from 'node:path'

const isName = (text: string): boolean => text !== '' && text !== '.' && text !== '..' && !/[/\0]/.test(text)

/** Names come from objects: one that is not a single name must not become a part of a path. */
function nameOf(text: string): string {
  if (!isName(text)) throw new Error(`${JSON.stringify(text)} is not a name of a file`)
  return text
}

/** `kubernetes.io/configmap` is `kubernetes.io~configmap` on disk. */
export const escapedName = (plugin: string): string => plugin.replaceAll('/', '~')
export const unescapedName = (folder: string): string => folder.replaceAll('~', '/')

export class VolumePaths {
  /** Such as `/var/lib/kubelet`. */
  readonly root: string

  constructor(root: string) {
    this.root = root
  }

  get pods(): string {
    return join(this.root, 'pods')
  }

  pod(uid: string): string {
    return join(this.pods, nameOf(uid))
  }

  volumes(uid: string): string {
    return join(this.pod(uid), 'volumes')
  }

  volume(uid: string, plugin: string, name: string): string {
    return join(this.volumes(uid), escapedName(plugin), nameOf(name))
  }

  /** Volumes that are devices: a symlink for each. */
  volumeDevices(uid: string): string {
    return join(this.pod(uid), 'volumeDevices')
  }

  volumeDevice(uid: string, plugin: string, name: string): string {
    return join(this.volumeDevices(uid), escapedName(plugin), nameOf(name))
  }

  /** A plug-in's notes about a volume, beside its content. */
  pluginFolder(uid: string, plugin: string): string {
    return join(this.pod(uid), 'plugins', escapedName(plugin))
  }

  subPaths(uid: string): string {
    return join(this.pod(uid), 'volume-subpaths')
  }

  subPath(uid: string, volume: string, container: string, index: number): string {
    return join(this.subPaths(uid), nameOf(volume), nameOf(container), String(index))
  }

  /** A plug-in's folder for all pods. */
  plugin(plugin: string): string {
    return join(this.root, 'plugins', plugin)
  }
}
