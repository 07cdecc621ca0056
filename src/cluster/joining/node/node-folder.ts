/** The folder of a machine that has joined a cluster. */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import { instanceOf } from '../../real-node/settings/embedded-runtime.ts'

/** Default of `--data-dir` of `t8s join`. */
export const defaultNodeFolder = '/var/lib/typernetes/node'

export interface NodeFolder {
  readonly path: string
  /** The kubeconfig with the bootstrap token, which is deleted when the node has a certificate. */
  readonly bootstrapKubeconfig: string
  readonly kubeconfig: string
  readonly pki: string
  /** The file of a KnownCluster. */
  readonly cluster: string
  /** The files of kubelet and runtime. */
  readonly node: string
  /** Names what belongs to this node on the machine. */
  readonly instance: string
}

/** Returns the paths in a folder, without touching the disk. */
export function nodeFolder(directory: string): NodeFolder {
  const path = resolve(directory)
  const node = join(path, 'node')
  return {
    path,
    bootstrapKubeconfig: join(path, 'bootstrap-kubelet.conf'),
    kubeconfig: join(path, 'kubelet.conf'),
    pki: join(path, 'pki'),
    cluster: join(path, 'cluster.json'),
    node,
    instance: instanceOf(node),
  }
}

/** The settings of a cluster, for a node whose server does not answer. */
export interface KnownCluster {
  readonly nodeName: string
  readonly url: string
  /** The ranges of all pods. */
  readonly podRanges: readonly string[]
  /** The KubeletConfiguration of all nodes, as YAML. */
  readonly kubelet: string
  /** The text of net-conf.json; undefined if the cluster does not publish it. */
  readonly network?: string | undefined
}

/** Returns undefined for a machine that has not joined. */
export function readKnownCluster({ cluster }: NodeFolder): KnownCluster | undefined {
  try {
    const known: KnownCluster = JSON.parse(readFileSync(cluster, 'utf8'))
    return known
  } catch {
    return undefined
  }
}

export const writeKnownCluster = ({ cluster }: NodeFolder, known: KnownCluster): void =>
  writeFileAtomically(cluster, JSON.stringify(known), 0o600)
