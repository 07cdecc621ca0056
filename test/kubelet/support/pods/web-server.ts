/** Web servers for pods of tests, as upstream's `agnhost`: scripts for the image with busybox. Their port is 8080. */

const serve = 'exec httpd -f -p 8080 -h /www'
const noContent = 'printf "Content-Type: text/plain\\r\\n\\r\\n"'

const programs: Readonly<Record<string, string>> = {
  // Writes the query to the log: `/cgi-bin/echo?hello`.
  echo: `echo "$QUERY_STRING" >&2; ${noContent}`,
  // Sends a request to another pod: `/cgi-bin/dial?http://10.0.0.1:8080/cgi-bin/echo?hello`.
  dial: `wget -q -O /dev/null "$QUERY_STRING"; ${noContent}`,
  // Stores the bodies of requests, which `read` shows.
  write: `cat >> /tmp/received; ${noContent}`,
  read: `${noContent}; cat /tmp/received`,
}

const written = Object.entries(programs)
  .map(
    ([name, program]) =>
      `cat > /www/cgi-bin/${name} <<'END'\n#!/bin/sh\n${program}\nEND\nchmod +x /www/cgi-bin/${name}`,
  )
  .join('\n')

/** The script of a server that answers `/healthz`, and has programs below `/cgi-bin/`. */
export const webServer = `
mkdir -p /www/cgi-bin
echo ok > /www/healthz
touch /tmp/received
${written}
${serve}
`

/** The script of a server whose `/healthz` fails some time after its start. */
export const dyingServer = (seconds: number): string => `
mkdir -p /www
echo ok > /www/healthz
(sleep ${seconds}; rm /www/healthz) &
${serve}
`
