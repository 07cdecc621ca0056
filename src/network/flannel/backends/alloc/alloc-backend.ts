/** The backend alloc: the node gets a subnet, and something else moves its packets, such as a cloud's routes. */
import type { Backend } from '../backend.ts'

export const allocBackend: Backend = {
  type: 'alloc',
  async register({ external, subnets, signal }) {
    // As upstream, no type: nodes with another backend ignore this one.
    const lease = await subnets.acquireLease({ publicIP: external.publicIP, backendType: '' }, signal)
    return { lease, mtu: external.mtu, apply() {}, restore() {}, stop() {} }
  },
}
