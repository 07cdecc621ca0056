/**
 * ImageLocality: prefers nodes that have the large images of the pod. The score is scaled by the share of nodes that
 * have them, lest all such pods go to few nodes.
 */
import { maxNodeScore, type Plugin, type PodInfo, pluginFactory, skip } from '../../framework/index.ts'

const mebibyte = 1024 * 1024
/** Smaller images are pulled so fast that they do not count. */
const minBytes = 23 * mebibyte
/** The limit per image. */
const maxBytes = 1000 * mebibyte

export const imageLocality = pluginFactory({
  name: 'ImageLocality',
  make: (_args, { snapshot }): Plugin<unknown, readonly string[]> => ({
    preScore(pod) {
      const images = imagesOf(pod)
      return images.length === 0 ? skip : { state: images }
    },
    score(images, _pod, node) {
      if (node.images.size === 0) return 0
      let bytes = 0
      for (const image of images) {
        const state = node.images.get(image)
        if (state) bytes += Math.trunc(state.sizeBytes * (state.nodes / snapshot.nodes.length))
      }
      const most = maxBytes * images.length
      const counted = Math.min(Math.max(bytes, minBytes), most)
      return Math.trunc((maxNodeScore * (counted - minBytes)) / (most - minBytes))
    },
  }),
})

/** The images of containers, init containers and volumes, with a tag as in node statuses. */
function imagesOf({ pod: { spec } }: PodInfo): readonly string[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ image }) => image ?? '')
  const volumes = (spec?.volumes ?? []).flatMap(({ image }) => (image ? [image.reference ?? ''] : []))
  return [...containers, ...volumes].map((image) =>
    image.lastIndexOf(':') > image.lastIndexOf('/') ? image : `${image}:latest`,
  )
}
