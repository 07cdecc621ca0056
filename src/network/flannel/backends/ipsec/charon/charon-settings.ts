/** Settings of a charon that flannel starts: those of the machine, and where its log goes. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

const file = '/run/flannel/strongswan.conf'
/** The places of the machine's settings: of most distributions, and of CentOS. */
const places = ['/etc/strongswan.conf', '/etc/strongswan/strongswan.conf']

/** Writes the file of the settings, and returns its path. `given` is the machine's file, if it is another one. */
export function writeSettings(given: string | undefined): string {
  const machine = [given || undefined, ...places].find((path) => path !== undefined && existsSync(path))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, settingsText(machine))
  return file
}

/** Lines of the standard output would wait in a buffer. The system's log has them also after flannel restarted. */
const logSettings = `charon {
  filelog {
    stderr {
      default = 1
    }
  }
  syslog {
    daemon {
      default = 1
    }
  }
}
`

function settingsText(machine: string | undefined): string {
  const include = machine === undefined ? '' : `include ${machine}\n`
  return `# Written by flannel at each start of charon.\n${include}${logSettings}`
}
