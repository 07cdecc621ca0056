/**
 * The flags about front proxies: those that may say who a user is, and this server towards the servers of aggregated
 * APIs.
 */
import { Option } from 'commander'

/** Values with commas between them; repeatable. */
const list = (text: string, previous: readonly string[] = []): string[] => [
  ...previous,
  ...text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
]

export const frontProxyFlags = (): readonly Option[] => [
  new Option(
    '--requestheader-client-ca-file <FILE>',
    "authorities of front proxies (PEM), in place of the cluster's own",
  ),
  new Option(
    '--requestheader-allowed-names <NAME>',
    'common names that front proxies may have (default: any)',
  ).argParser(list),
  new Option(
    '--requestheader-username-headers <NAME>',
    'headers in which they say who a user is (default: X-Remote-User)',
  ).argParser(list),
  new Option(
    '--requestheader-uid-headers <NAME>',
    "headers with the user's uid, such as X-Remote-Uid (default: none)",
  ).argParser(list),
  new Option(
    '--requestheader-group-headers <NAME>',
    "headers with the user's groups (default: X-Remote-Group)",
  ).argParser(list),
  new Option(
    '--requestheader-extra-headers-prefix <PREFIX>',
    'how headers with more about the user begin (default: X-Remote-Extra-)',
  ).argParser(list),
  new Option(
    '--proxy-client-cert-file <FILE>',
    'show this certificate (PEM) to the servers of aggregated APIs, instead of one made here',
  ),
  new Option('--proxy-client-key-file <FILE>', 'the key of --proxy-client-cert-file (PEM)'),
]
