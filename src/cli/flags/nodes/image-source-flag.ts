/** The programs on this machine whose images are used without loading them. */
import { Option } from 'commander'

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

export const imageSourceFlag = (): Option =>
  new Option(
    '--image-source <SOURCE>',
    'use images of docker[:SOCKET] or containerd[:SOCKET][,namespace=NAME] before those of registries; can be repeated',
  )
    .argParser(collect)
    .default([], 'none')
