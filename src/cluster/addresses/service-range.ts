/** The range of Services' addresses of a cluster on disk. It stays the same for the life of the cluster. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultServiceRange } from '../../apiserver/services/ranges/address-range.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import type { DataDirectory } from '../data-directory.ts'

/** As kubeadm's, for clusters with nodes: manifests and pods expect DNS at 10.96.0.10. */
const rangeOfNodes = '10.96.0.0/16'

const recordOf = ({ path }: DataDirectory): string => join(path, 'service-range')

/**
 * Returns the wanted range, else the one that the cluster has. A cluster without nodes is an API server, and has the
 * default of kube-apiserver, as one that is older than the record.
 */
export function serviceRangeOf(data: DataDirectory, wanted: string | undefined, hasNodes: boolean): string {
  if (wanted !== undefined) return wanted
  const file = recordOf(data)
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  return hasNodes && !existsSync(data.store) ? rangeOfNodes : defaultServiceRange
}

/** Records the range for later starts. Call it when the store is open: the directory belongs to this process then. */
export function recordServiceRange(data: DataDirectory, range: string): void {
  const file = recordOf(data)
  if (!existsSync(file) || readFileSync(file, 'utf8').trim() !== range) writeFileAtomically(file, `${range}\n`, 0o600)
}
