/**
 * The fuzzed server, in a child process, so that a crash or an endless loop does not take down the test. Sends its port
 * and its log lines to the parent.
 */
import { startCluster } from '../../src/cluster/start-cluster.ts'

const send = (message: object): unknown => process.send?.(message)

const cluster = await startCluster({
  storage: 'memory',
  thread: false,
  runtimeConfig: ['api/all=true'],
  tokens: [
    { token: 'fuzz', user: { name: 'fuzz', groups: ['system:masters'] } },
    { token: 'few', user: { name: 'few', groups: [] } },
  ],
  log: (logged) => send({ logged }),
})
process.on('disconnect', () => process.exit())
send({ port: cluster.port })
