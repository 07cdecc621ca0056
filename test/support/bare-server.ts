/** A server without controllers: it has only the objects that a test creates. */
import type { ClusterOptions } from '../../src/cluster/start-cluster.ts'

/** The same as flags of `t8s up`. */
export const bareFlags: readonly string[] = [
  '--controllers=',
  '--nodes=0',
  '--disable-admission-plugins=ServiceAccount',
]

export const bareServer = {
  controllers: [],
  apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
} satisfies ClusterOptions
