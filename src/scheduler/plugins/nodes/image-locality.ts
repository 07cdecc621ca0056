/**
 * ImageLocality: a pod rather goes where its large images are already, unless few nodes have them: all of its kind
 * would go there.
 */
import { maxNodeScore, type Plugin, type PodInfo, pluginFactory, skip } from '../../framework/index.ts'

const mebibyte = 1024 * 1024
/** Less is pulled so fast that it does not matter. */
const leastBytes = 23 * mebibyte
/** For each image. */
const mostBytes = 1000 * mebibyte

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
      const most = mostBytes * images.length
      const counted = Math.min(Math.max(bytes, leastBytes), most)
      return Math.trunc((maxNodeScore * (counted - leastBytes)) / (most - leastBytes))
    },
  }),
})

/** Of containers, init containers and volumes, as nodes call them: with a tag. */
function imagesOf({ pod: { spec } }: PodInfo): readonly string[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ image }) => image ?? '')
  const volumes = (spec?.volumes ?? []).flatMap(({ image }) => (image ? [image.reference ?? ''] : []))
  return [...containers, ...volumes].map((image) =>
    image.lastIndexOf(':') > image.lastIndexOf('/') ? image : `${image}:latest`,
  )
}
