/**
 * A process that may not change the network: it syncs the mode userspace with one Service, whose node port and load
 * balancer are given with the port of its endpoint, prints a line, and serves until its input ends.
 */
import { buffer } from 'node:stream/consumers'
import { createUserspaceMode } from '../../../src/network/proxy/modes/userspace/userspace-mode.ts'
import { TestPicture } from './picture.ts'
import { modeOptions } from './served-node.ts'

const [nodePort = '', loadBalancerIP = '', pod = ''] = process.argv.slice(2)
const services = new TestPicture(4)
services.set({
  name: 'web',
  loadBalancerIP,
  spec: {
    type: 'LoadBalancer',
    clusterIP: '10.96.0.77',
    ports: [{ name: 'http', port: 80, nodePort: Number(nodePort), protocol: 'TCP' }],
  },
  endpoints: [{ pod: Number(pod) }],
})
const mode = createUserspaceMode(modeOptions(4))
await mode.sync(services.picture, 'all')
console.log('synced')
await buffer(process.stdin)
await mode.stop()
