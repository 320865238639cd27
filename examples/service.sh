# Sourced by each `run`: set MANYCLASS_URL to the service of `--url URL`, or else start a temporary
# one with the options in the array `serve`, which ends with the example.

command -v manyclass >/dev/null || PATH="$(cd ../.. && pwd)/.venv/bin:$PATH"

start_service() {
    folder=$(mktemp -d)
    touch "$folder/log"
    # Without the environment: settings of another service do not count here.
    env -i PATH="$PATH" manyclass serve --port 0 --store "sqlite:$folder/manyclass.db" \
        "${serve[@]}" &>"$folder/log" &
    service=$!
    trap 'kill $service 2>/dev/null; wait $service; rm -r "$folder"' EXIT
    until MANYCLASS_URL=$(grep -oP 'ready, with a console at \Khttp://[^/]*' "$folder/log"); do
        kill -0 $service 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
        sleep 0.1
    done
}

case "$#:${1:-}" in
    0:) start_service ;;
    2:--url) MANYCLASS_URL=$2 ;;
    *) echo "usage: $0 [--url URL]" >&2; exit 2 ;;
esac
export MANYCLASS_URL
