/** The folder of images that `t8s image`, `t8s runtime` and `t8s up` share by default. */
import { join } from 'node:path'
import { dataFolders } from '../rootless/user-folders.ts'

export const defaultImageRoot = (): string => join(dataFolders().data, 'images')
