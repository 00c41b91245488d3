"""python demonstration.py 'scrapy crawl … {site}': run a command on the demonstration site.

The site is started on a free port, and stopped when the command has ended. In the command, {site}
is the address of its news, and {shop} that of its shop. Many pages of both are copies of others.
"""

import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from crawler.site.process import running_site, shop_url

if __name__ == "__main__":
    with running_site(articles=12) as site:
        command = " ".join(sys.argv[1:]).format(site=site, shop=shop_url(site))
        sys.exit(subprocess.run(command, shell=True, check=False).returncode)
