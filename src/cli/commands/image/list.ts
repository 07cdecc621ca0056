/** `t8s image list`: lists the images of the store. */
import { Command, Option } from 'commander'
import { imageRootOption, type StoreFlags, withStore } from './store-option.ts'

interface ListFlags extends StoreFlags {
  readonly output?: 'json' | 'name'
}

export function listCommand(): Command {
  return new Command('list')
    .alias('ls')
    .description('list the images: names, IDs and compressed sizes')
    .addOption(new Option('-o, --output <FORMAT>', 'machine-readable output').choices(['json', 'name']))
    .addOption(imageRootOption())
    .action(list)
}

async function list({ output, ...flags }: ListFlags): Promise<void> {
  const [{ table }, { sizeText }] = await Promise.all([import('../../terminal/table.ts'), import('./size-text.ts')])
  await withStore(flags, async (store) => {
    const images = store.list()
    if (output === 'json') print(JSON.stringify(images, undefined, 2))
    else if (output === 'name') print(...images.flatMap(({ tags }) => tags))
    else if (images.length === 0) print(`There are no images in ${flags.imageRoot}: pull one with t8s image pull.`)
    else {
      const rows = images.flatMap(({ id, tags, digests, size, config }) =>
        (tags.length > 0 ? tags : [digests[0] ?? '<none>']).map((name) => [
          name,
          id.slice('sha256:'.length, 'sha256:'.length + 12),
          `${config.platform.os}/${config.platform.architecture}`,
          sizeText(size),
        ]),
      )
      print(...table(['NAME', 'ID', 'PLATFORM', 'SIZE'], rows))
    }
  })
}

const print = (...lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${line}\n`).join(''))
