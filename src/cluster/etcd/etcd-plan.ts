/** The etcd of a cluster, from options and flags. Nothing is opened yet. */
import type { OtherStore } from '../../apiserver/server.ts'
import type { EtcdOptions } from '../../storage/etcd/index.ts'
import type { ClusterOptions } from '../cluster-options.ts'

export interface EtcdPlan {
  readonly options: EtcdOptions
  /** The etcds of some resources (`--etcd-servers-overrides`). */
  readonly others: readonly { readonly options: EtcdOptions; readonly resources: OtherStore['resources'] }[]
}

/** Returns the etcd of the options, or of flags; undefined for a store of this process. */
export function etcdPlan(
  { storage, compaction }: Pick<ClusterOptions, 'storage' | 'compaction'>,
  flagged: EtcdPlan | undefined,
): EtcdPlan | undefined {
  const options = typeof storage === 'object' && 'etcd' in storage ? storage.etcd : undefined
  const plan = options ? { options, others: [] } : flagged
  const compactionMs = compaction?.intervalMs
  return plan && { ...plan, options: { ...(compactionMs !== undefined && { compactionMs }), ...plan.options } }
}
