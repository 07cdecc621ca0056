/** The range of Services' addresses of a cluster on disk. It stays the same for the life of the cluster. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultServiceRange } from '../apiserver/services/ranges/address-range.ts'
import { writeFileAtomically } from '../lib/files/atomic-file.ts'
import type { DataDirectory } from './data-directory.ts'

/** As kubeadm's. */
export const clusterServiceRange = '10.96.0.0/16'

/**
 * Returns the wanted range, else the one that the cluster has, and records it. A cluster without a record is older, and
 * had kube-apiserver's default.
 */
export function recordedServiceRange({ path, store }: DataDirectory, wanted: string | undefined): string {
  const file = join(path, 'service-range')
  const recorded = existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
  const range = wanted ?? recorded ?? (existsSync(store) ? defaultServiceRange : clusterServiceRange)
  if (range !== recorded) writeFileAtomically(file, `${range}\n`, 0o600)
  return range
}
