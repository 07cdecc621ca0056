/** Removed flags of kube-apiserver, so that the error for an old command line names the release that removed them. */
import { own } from '../../lib/own.ts'

const dropped: Readonly<Record<string, readonly string[]>> = {
  '1.24': ['address', 'insecure-bind-address', 'insecure-port', 'port'],
  '1.26': [
    'add-dir-header',
    'alsologtostderr',
    'log-backtrace-at',
    'log-dir',
    'log-file',
    'log-file-max-size',
    'logtostderr',
    'one-output',
    'skip-headers',
    'skip-log-headers',
    'stderrthreshold',
  ],
}

const releases: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(dropped).flatMap(([release, names]) => names.map((name) => [name, release])),
)

/** The release that removed a flag; undefined for unknown flags. */
export const droppedIn = (name: string): string | undefined => own(releases, name)
