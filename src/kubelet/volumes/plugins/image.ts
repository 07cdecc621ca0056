/** image volumes: the runtime mounts the content of an image (KEP-4639). The kubelet pulls it before. */
import type { VolumePlugin } from '../volume-plugin.ts'

export const imagePlugin: VolumePlugin = {
  name: 'kubernetes.io/image',
  isRefreshed: false,
  hasMountOptions: false,
  supports: ({ volume }) => volume?.image !== undefined,
  async setUp({ spec }) {
    const { reference = '', pullPolicy } = spec.volume?.image ?? {}
    return { image: { reference, pullPolicy } }
  },
  async tearDown() {},
}
