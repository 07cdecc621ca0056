/** The folder of images, which all commands of `t8s image` share. */
import { Option } from 'commander'
import { defaultImageRoot } from '../../../runtime/images/image-root.ts'
import { explainImageErrors } from './explain-image-errors.ts'

export interface StoreFlags {
  readonly imageRoot: string
}

export const imageRootOption = (): Option =>
  new Option('--image-root <DIR>', 'the folder of images').env('T8S_IMAGE_ROOT').default(defaultImageRoot())

/** Opens the store and calls `action`. Errors of images become messages. */
export async function withStore({ imageRoot }: StoreFlags, action: (store: Store) => Promise<void>): Promise<void> {
  const { ImageError, ImageStore } = await import('../../../runtime/images/index.ts')
  await explainImageErrors(ImageError, imageRoot, () => action(new ImageStore(imageRoot)))
}

export type Store = import('../../../runtime/images/index.ts').ImageStore
