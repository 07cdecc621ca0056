/** A server without controllers: nothing is in it but what a test puts there. */
import type { ClusterOptions } from '../../src/cluster/start-cluster.ts'

/** Its flags, for `t8s up`. */
export const bareFlags: readonly string[] = [
  '--controllers=',
  '--nodes=0',
  '--disable-admission-plugins=ServiceAccount',
]

export const bareServer = {
  controllers: [],
  apiServerFlags: ['--disable-admission-plugins=ServiceAccount'],
} satisfies ClusterOptions
