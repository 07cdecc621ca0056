/**
 * The flags for front proxies: which proxies may authenticate users with headers, and the client certificate for
 * servers of aggregated APIs.
 */
import { Option } from 'commander'

/** Comma-separated values; repeatable. */
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
  new Option('--requestheader-allowed-names <NAME>', 'allowed common names of front proxies (default: any)').argParser(
    list,
  ),
  new Option(
    '--requestheader-username-headers <NAME>',
    'headers with the user name (default: X-Remote-User)',
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
    "prefix of headers with the user's extra values (default: X-Remote-Extra-)",
  ).argParser(list),
  new Option(
    '--proxy-client-cert-file <FILE>',
    'client certificate (PEM) for servers of aggregated APIs, instead of a generated one',
  ),
  new Option('--proxy-client-key-file <FILE>', 'the key of --proxy-client-cert-file (PEM)'),
]
