/** The images on the nodes: their sizes, and the number of nodes that have each. */
import type { Node } from '../../client/kinds.ts'
import type { ImageState } from '../framework/node-info.ts'

interface CountedImage extends ImageState {
  sizeBytes: number
  nodes: number
}

export class ImageStates {
  readonly #images = new Map<string, CountedImage>()
  readonly #ofNodes = new Map<string, ReadonlyMap<string, ImageState>>()

  /** Sets the images of a node and returns them by name. The counts stay current when other nodes change. */
  set(name: string, { status }: Node): ReadonlyMap<string, ImageState> {
    const before = this.#ofNodes.get(name)
    const has = new Map<string, ImageState>()
    for (const { names, sizeBytes = 0 } of status?.images ?? [])
      for (const image of names ?? []) {
        let state = this.#images.get(image)
        if (!state) this.#images.set(image, (state = { sizeBytes: 0, nodes: 0 }))
        state.sizeBytes = Number(sizeBytes)
        if (!has.has(image)) state.nodes++
        has.set(image, state)
      }
    this.#forget(before)
    this.#ofNodes.set(name, has)
    return has
  }

  delete(name: string): void {
    this.#forget(this.#ofNodes.get(name))
    this.#ofNodes.delete(name)
  }

  #forget(images: ReadonlyMap<string, ImageState> | undefined): void {
    for (const image of images?.keys() ?? []) {
      const state = this.#images.get(image)
      if (state && --state.nodes === 0) this.#images.delete(image)
    }
  }
}
