import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NodeInfo, PodInfo } from '../../framework/index.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { handleOf, makePlugin, snapshotOf } from '../../testing/try-plugin.fixture.ts'
import { imageLocality } from './image-locality.ts'

const mebibyte = 1024 * 1024

/** The scores by node of a pod with these images; `has` lists the images of nodes with sizes in MiB. */
function scores(
  images: readonly string[],
  has: Readonly<Record<string, Readonly<Record<string, number>>>>,
  volumes: readonly string[] = [],
): number[] {
  const cluster = { nodes: Object.keys(has).map((name) => aNode(name)) }
  const snapshot = snapshotOf(cluster)
  for (const node of snapshot.nodes) node.setImages(imagesOf(node))
  const pod = new PodInfo(
    aPod('p', {
      containers: images.map((image, i) => ({ name: `c${i}`, image })),
      volumes: volumes.map((reference) => ({ name: 'v', image: { reference } })),
    }),
  )
  const plugin = makePlugin(imageLocality, cluster, handleOf(cluster, snapshot))
  const prepared = plugin.preScore?.(pod, snapshot.nodes, undefined)
  return snapshot.nodes.map((node) =>
    prepared && 'state' in prepared ? (plugin.score?.(prepared.state, pod, node) ?? 0) : -1,
  )

  function imagesOf({ name }: NodeInfo): Map<string, { sizeBytes: number; nodes: number }> {
    const nodesWith = (image: string) => Object.values(has).filter((own) => image in own).length
    return new Map(
      Object.entries(has[name] ?? {}).map(([image, size]) => [
        image,
        { sizeBytes: size * mebibyte, nodes: nodesWith(image) },
      ]),
    )
  }
}

test('large images that many nodes have score higher', () => {
  const cases: [string, string[], Record<string, Record<string, number>>, number[]][] = [
    ['no node has it', ['a'], { n: {}, m: {} }, [0, 0]],
    ['one of two has it', ['a'], { n: { 'a:latest': 250 }, m: {} }, [10, 0]],
    ['both have it', ['a'], { n: { 'a:latest': 250 }, m: { 'a:latest': 250 } }, [23, 23]],
    ['it is small', ['a'], { n: { 'a:latest': 20 }, m: { 'a:latest': 20 } }, [0, 0]],
    ['it is very large', ['a'], { n: { 'a:latest': 3000 }, m: {} }, [100, 0]],
    ['two images', ['a:1', 'b:2'], { n: { 'a:1': 250, 'b:2': 250 }, m: { 'a:1': 250 } }, [17, 11]],
    ['a registry with a port has no tag', ['r:5000/a'], { n: { 'r:5000/a:latest': 500 } }, [48]],
    ['another tag', ['a:1'], { n: { 'a:2': 500 } }, [0]],
  ]
  for (const [title, images, has, expected] of cases) assert.deepEqual(scores(images, has), expected, title)
})

test('images of volumes count', () => {
  assert.deepEqual(scores(['a'], { n: { 'v:1': 1000 } }, ['v:1']), [49])
})
