/**
 * The server that is fuzzed, in a process of its own: a crash or an endless loop must not take the test with it. Tells
 * its parent the port, and what it logs.
 */
import { startCluster } from '../../src/cluster/start-cluster.ts'

const tell = (message: object): unknown => process.send?.(message)

const cluster = await startCluster({
  storage: 'memory',
  runtimeConfig: ['api/all=true'],
  tokens: [
    { token: 'fuzz', user: { name: 'fuzz', groups: ['system:masters'] } },
    { token: 'few', user: { name: 'few', groups: [] } },
  ],
  log: (logged) => tell({ logged }),
})
process.on('disconnect', () => process.exit())
tell({ port: cluster.port })
